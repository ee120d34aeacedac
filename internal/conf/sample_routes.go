package conf

// packagedRoutes are the routes' sections of the packaged file. Where a wrong
// guess costs 10, the burst is ten times the requests.
var packagedRoutes = []struct {
	name string
	set  [][2]string
}{
	{"tokens", append([][2]string{
		{"paths", "POST:/v3/auth/tokens"},
		{"per_address", "120/1m burst 1200"},
		{"per_principal", "1200/1m"},
		{"mode", "shadow"},
	}, guessing...)},
	{"password", append([][2]string{
		{"paths", "POST:/v3/users/{user_id}/password"},
		{"per_address", "60/1m burst 600"},
		{"mode", "shadow"},
	}, guessing...)},
	{"validate", [][2]string{
		{"paths", "GET:/v3/auth/tokens, HEAD:/v3/auth/tokens"},
		{"per_principal", "60000/1m"},
		{"mode", "shadow"},
	}},
	{"revoke", [][2]string{
		{"paths", "DELETE:/v3/auth/tokens"},
		{"per_principal", "120/1m"},
		{"mode", "shadow"},
	}},
}

// guessing are the prices of routes that take secrets: who knows his pays
// nothing.
var guessing = [][2]string{{"price_success", "0"}, {"price_401", "10"}, {"price_403", "5"}, {"price_404", "0"}}

// packagedPrices are those of [rate_limit_default]: what succeeds is free, since
// who works all day behind one address is no attack. Being forbidden something
// is cheap there: it is known who asked.
var packagedPrices = map[string]string{"price_success": "0", "price_401": "10", "price_403": "1", "price_404": "0"}

// sampleRoutes are the options of the packaged routes: all of them, with what
// they mean, in the first section, and in the others those that are set.
func sampleRoutes() []*Option {
	var list []*Option
	for i, r := range packagedRoutes {
		values := map[string]string{}
		for _, s := range r.set {
			values[s[0]] = s[1]
		}
		for _, o := range routeOptions() {
			own := *o
			own.Section = routePrefix + r.name
			if v, ok := values[o.Option]; ok {
				own.Sample = &v
			} else if i > 0 {
				continue
			}
			if i > 0 {
				own.Help = ""
			}
			list = append(list, &own)
		}
	}
	return list
}
