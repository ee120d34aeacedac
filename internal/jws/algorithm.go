// Package jws signs and verifies compact JSON web signatures under the key
// files of Keystone's JWS tokens, which Python Keystone may share.
package jws

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"

	// The hashes of the algorithms.
	_ "crypto/sha256"
	_ "crypto/sha512"
)

// Algorithm is the name of a signature algorithm, as [jwt_tokens]
// jws_algorithm has it.
type Algorithm string

// The algorithms of Keystone. EdDSA is Ed25519.
const (
	ES256 Algorithm = "ES256"
	ES384 Algorithm = "ES384"
	ES512 Algorithm = "ES512"
	EdDSA Algorithm = "EdDSA"
)

// Algorithms lists what there is.
var Algorithms = []Algorithm{ES256, ES384, ES512, EdDSA}

// curves are the ECDSA algorithms; the hash and the size of r and s in bytes
// go with the curve.
var curves = map[Algorithm]struct {
	curve elliptic.Curve
	hash  crypto.Hash
	size  int
}{
	ES256: {elliptic.P256(), crypto.SHA256, 32},
	ES384: {elliptic.P384(), crypto.SHA384, 48},
	ES512: {elliptic.P521(), crypto.SHA512, 66},
}

// Known reports whether there is such an algorithm.
func (a Algorithm) Known() bool {
	_, ok := curves[a]
	return ok || a == EdDSA
}

// algorithmOf is the one algorithm that a public key is for, "" for a key of
// another kind.
func algorithmOf(key crypto.PublicKey) Algorithm {
	switch k := key.(type) {
	case ed25519.PublicKey:
		return EdDSA
	case *ecdsa.PublicKey:
		for a, c := range curves {
			if k.Curve == c.curve {
				return a
			}
		}
	}
	return ""
}

// sign signs a text with a private key that is for the algorithm.
func (a Algorithm) sign(key crypto.Signer, text []byte) ([]byte, error) {
	switch k := key.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(k, text), nil
	case *ecdsa.PrivateKey:
		c := curves[a]
		r, s, err := ecdsa.Sign(rand.Reader, k, digest(c.hash, text))
		if err != nil {
			return nil, err
		}
		out := make([]byte, 2*c.size)
		r.FillBytes(out[:c.size])
		s.FillBytes(out[c.size:])
		return out, nil
	}
	return nil, fmt.Errorf("a key of type %T signs nothing", key)
}

// verify reports whether the signature is the key's, which is for the
// algorithm.
func (a Algorithm) verify(key crypto.PublicKey, text, signature []byte) bool {
	switch k := key.(type) {
	case ed25519.PublicKey:
		return ed25519.Verify(k, text, signature)
	case *ecdsa.PublicKey:
		c := curves[a]
		if len(signature) != 2*c.size {
			return false
		}
		r, s := new(big.Int).SetBytes(signature[:c.size]), new(big.Int).SetBytes(signature[c.size:])
		return ecdsa.Verify(k, digest(c.hash, text), r, s)
	}
	return false
}

func digest(h crypto.Hash, text []byte) []byte {
	d := h.New()
	d.Write(text)
	return d.Sum(nil)
}

// GenerateKey makes a key pair of an algorithm, in the PEM forms in which
// keystone-manage create_jws_keypair writes private.pem and public.pem.
func GenerateKey(a Algorithm) (private, public []byte, err error) {
	var key crypto.Signer
	if c, ok := curves[a]; ok {
		key, err = ecdsa.GenerateKey(c.curve, rand.Reader)
	} else if a == EdDSA {
		_, key, err = ed25519.GenerateKey(rand.Reader)
	} else {
		err = fmt.Errorf("there is no JWS algorithm %q", a)
	}
	if err != nil {
		return nil, nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, nil, err
	}
	open, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: pkcs8, Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: pkix, Bytes: open}), nil
}

// The types of PEM blocks that are read.
const (
	pkcs8 = "PRIVATE KEY"
	pkix  = "PUBLIC KEY"
	sec1  = "EC PRIVATE KEY" // as openssl ecparam writes it
)

// parsePrivate reads an unencrypted private key. No error shows any of it.
func parsePrivate(text []byte) (crypto.Signer, error) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			return nil, errors.New("no unencrypted private key in PEM form")
		}
		var key any
		var err error
		switch block.Type {
		case pkcs8:
			key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
		case sec1:
			key, err = x509.ParseECPrivateKey(block.Bytes)
		default: // such as EC PARAMETERS
			continue
		}
		signer, ok := key.(crypto.Signer)
		if err != nil || !ok {
			return nil, errors.New("a private key that cannot be read")
		}
		return signer, nil
	}
}

// parsePublic reads a public key, or the public half of a private one, as
// Python Keystone does.
func parsePublic(text []byte) (crypto.PublicKey, error) {
	if block, _ := pem.Decode(text); block != nil && block.Type == pkix {
		return x509.ParsePKIXPublicKey(block.Bytes)
	}
	signer, err := parsePrivate(text)
	if err != nil {
		return nil, errors.New("no public key in PEM form")
	}
	return signer.Public(), nil
}

// encoding is base64 as JWS has it; other spellings of a token are not tokens.
var encoding = base64.RawURLEncoding.Strict()
