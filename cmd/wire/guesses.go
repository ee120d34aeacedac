package wire

import (
	"github.com/keystone-go/keystone-go/auth/guess"
)

// guesses makes the limits of guesses. What is known of users and addresses
// goes over from the App before.
func (b *builder) guesses() *guess.Guard {
	c := b.cfg
	sizes := guess.Sizes{
		Trusted: c.RateLimitTrustedPair.MaxEntries, Failing: c.RateLimitFailedLogin.MaxEntries, Tried: c.RateLimitSpray.MaxEntries,
	}
	memory, _ := held(b, "guesses", sizes, func() (*guess.Memory, error) { return guess.NewMemory(sizes, b.Tick), nil }, nil)
	l := b.app.Limits
	return &guess.Guard{
		Limits: guess.Limits{
			User: l.UserAuth, Decoy: l.Decoy, Trusted: l.TrustedPair,
			Address: l.FailedAddress, AddressWide: l.FailedAddressWide, Pair: l.FailedPair, PairWide: l.FailedPairWide,
			Spray: l.SprayAddress, Password: l.SprayPassword,
		},
		Memory: memory, TrustFor: l.TrustFor, Growing: l.GrowingPenalty, PasswordPrice: l.PasswordPrice,
	}
}
