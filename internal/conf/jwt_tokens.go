package conf

// JWTTokens is the section [jwt_tokens]: the algorithms and keys of JWS tokens.
type JWTTokens struct {
	JWSAlgorithm            string   `ini:"jws_algorithm" default:"ES256" choices:"ES256,ES384,ES512,EdDSA" effect:"yes" help:"signing algorithm of JWS tokens"`
	JWSAcceptedAlgorithms   []string `ini:"jws_accepted_algorithms" default:"ES256" effect:"yes" help:"algorithms accepted at validation"`
	JWSPublicKeyRepository  string   `ini:"jws_public_key_repository" default:"/etc/keystone/jws-keys/public" effect:"yes" help:"directory of verification keys"`
	JWSPrivateKeyRepository string   `ini:"jws_private_key_repository" default:"/etc/keystone/jws-keys/private" effect:"yes" help:"directory holding private.pem"`
}
