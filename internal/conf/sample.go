package conf

import (
	"strconv"
	"strings"
)

func fileText(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case []string:
		return strings.Join(v, ",")
	case map[string]string:
		s := pythonText(v)
		return strings.Trim(strings.ReplaceAll(s, "'", ""), "{}")
	}
	return pythonText(v)
}
