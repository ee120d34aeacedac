package conf

// API is the section [api]: how Python Keystone checks its own answers.
type API struct {
	ResponseValidation string `ini:"response_validation" default:"warn" choices:"error,warn,ignore" help:"what Python does when its own answer breaks its response schema; a Go server needs no runtime check"`
}
