package guess

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// between parts two texts of a key; it is no part of any UTF-8.
const between = "\xff"

// Fold is the one form under which spellings of a name are one: compatibility
// forms and case are gone, and an @ at the end. Letters of other scripts that
// look alike stay apart, as the users of such names are others.
//
// Only what is not case-sensitive may compare names by it: on a database that
// tells Alice from alice it would take one user for the other.
func Fold(name string) string {
	// Folding may leave what is composed otherwise, so composing comes twice.
	name = cases.Fold().String(norm.NFKC.String(name))
	name = norm.NFKC.String(strings.Map(cherokee, name))
	return strings.TrimRight(name, "@")
}

// cherokee is the capital of a Cherokee letter, as Unicode folds this script
// alone; cases.Fold exchanges its capitals and its small letters.
func cherokee(r rune) rune {
	if unicode.Is(unicode.Cherokee, r) {
		return unicode.ToUpper(r)
	}
	return r
}

// Name is the key of a name that nobody has, where that of a user, and of an id
// that is nobody's, is the id. The domain is given by its id, of which there is
// only one spelling.
func Name(domainID, name string) string {
	return "name" + between + domainID + between + Fold(name)
}

// Homeless is the key of a name in a domain that does not exist, which was
// given by name.
func Homeless(domainName, name string) string {
	return "homeless" + between + Fold(domainName) + between + Fold(name)
}
