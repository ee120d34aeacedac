package token

// methods is [auth] methods; the place of a method is its bit in a payload.
type methods []string

// Two methods that are never in the list have bits of their own in releases
// with the security patches of 2025 and 2026. They are read and not written:
// 30.0.0 has ec2credential in the list and does not write them either.
const (
	ec2Bit    = 1 << 32
	oauth2Bit = 1 << 33
	// longest is the length of the list that these bits leave room for.
	longest = 32
)

// number is the sum of the bits; a method that is not in the list adds none.
func (m methods) number(names []string) uint64 {
	var sum uint64
	for i, known := range m {
		for _, name := range names {
			if name == known {
				sum |= 1 << i
			}
		}
	}
	return sum
}

// names appends the methods of a number to dst, the highest bit first. As in
// keystone/auth/plugins/core.py, bits above the list hide those in it.
func (m methods) names(dst []string, number uint64) []string {
	if number&oauth2Bit != 0 {
		dst = add(dst, "oauth2_credential")
	}
	if number&ec2Bit != 0 {
		dst = add(dst, "ec2credential")
	}
	number &^= oauth2Bit | ec2Bit
	for i := len(m) - 1; i >= 0; i-- {
		if number>>i == 1 {
			dst = add(dst, m[i])
			number -= 1 << i
		}
	}
	return dst
}

// add appends a name that is not there yet.
func add(dst []string, name string) []string {
	for _, have := range dst {
		if have == name {
			return dst
		}
	}
	return append(dst, name)
}
