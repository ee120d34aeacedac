package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/conf"
	"github.com/keystone-go/keystone-go/internal/fernet"
	"github.com/keystone-go/keystone-go/internal/jws"
)

// The files that create_jws_keypair makes in the working directory.
const (
	privateFile = "private.pem"
	publicFile  = "public.pem"
)

func (p *program) jwsCommand() *cobra.Command {
	var force bool
	cmd := p.ownedCommand("create_jws_keypair", "Make a key pair for JWS tokens in the working directory", func(ctx context.Context, owner fernet.Owner) error {
		return p.withConfig(ctx, func(_ context.Context, cfg *conf.Config) error {
			return createKeyPair(jws.Algorithm(cfg.JWTTokens.JWSAlgorithm), owner, force)
		})
	})
	cmd.Flags().BoolVar(&force, "force", false, "replace files that are there")
	return cmd
}

// createKeyPair writes the pair, the private key for its owner alone. Each file
// is whole or not there.
func createKeyPair(a jws.Algorithm, owner fernet.Owner, force bool) error {
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	files := []struct {
		name, what string
		mode       os.FileMode
		text       []byte
	}{{privateFile, "Private key", 0o600, nil}, {publicFile, "Public key", 0o644, nil}}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && !force {
			return fmt.Errorf("%s %s already exists; --force replaces it", f.what, path)
		}
	}
	if files[0].text, files[1].text, err = jws.GenerateKey(a); err != nil {
		return err
	}
	for _, f := range files {
		if err := writeOwned(filepath.Join(dir, f.name), f.text, f.mode, owner); err != nil {
			return err
		}
	}
	return nil
}

// writeOwned puts a file of a mode and owner in the place of the path.
func writeOwned(path string, text []byte, mode os.FileMode, owner fernet.Owner) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil && owner != (fernet.Owner{UID: -1, GID: -1}) {
		err = f.Chown(owner.UID, owner.GID)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
