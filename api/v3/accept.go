package v3

import (
	"mime"
	"strconv"
	"strings"
)

// bestMatch picks what an Accept header likes best: by quality, then by how
// exactly it is named, then in the order offered. It is "" when nothing is
// accepted, and the first offer for an empty header.
func bestMatch(accept string, offers ...string) string {
	if strings.TrimSpace(accept) == "" {
		return offers[0]
	}
	best, bestQuality, bestExact := "", 0.0, 0
	for _, offer := range offers {
		for entry := range strings.SplitSeq(accept, ",") {
			media, params, err := mime.ParseMediaType(entry)
			if err != nil {
				continue
			}
			exact := exactness(media, offer)
			if exact == 0 {
				continue
			}
			quality := quality(params["q"])
			if quality > bestQuality || quality > 0 && quality == bestQuality && exact > bestExact {
				best, bestQuality, bestExact = offer, quality, exact
			}
		}
	}
	return best
}

// exactness is 3 for a type that is named, 2 for type/*, 1 for */*, and 0 for
// no match.
func exactness(entry, offer string) int {
	group, _, _ := strings.Cut(offer, "/")
	switch entry {
	case offer:
		return 3
	case group + "/*":
		return 2
	case "*/*", "*":
		return 1
	}
	return 0
}

func quality(q string) float64 {
	if q == "" {
		return 1
	}
	f, err := strconv.ParseFloat(q, 64)
	if err != nil || f < 0 || f > 1 {
		return 0
	}
	return f
}
