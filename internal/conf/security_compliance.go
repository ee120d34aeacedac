package conf

// SecurityCompliance is the section [security_compliance]; the tags hold each option's meaning.
type SecurityCompliance struct {
	DisableUserAccountDaysInactive                       *int     `ini:"disable_user_account_days_inactive" min:"1" effect:"yes" help:"days without login before a user counts as disabled"`
	LockoutFailureAttempts                               *int     `ini:"lockout_failure_attempts" min:"1" effect:"yes" help:"failed logins before lockout"`
	LockoutDuration                                      int      `ini:"lockout_duration" default:"1800" min:"1" effect:"yes" help:"seconds a lockout lasts"`
	PasswordExpiresDays                                  *int     `ini:"password_expires_days" min:"1" effect:"yes" help:"days until a new password expires"`
	UniqueLastPasswordCount                              int      `ini:"unique_last_password_count" default:"0" min:"0" effect:"yes" help:"old passwords that may not be reused"`
	MinimumPasswordAge                                   int      `ini:"minimum_password_age" default:"0" min:"0" effect:"yes" help:"days before a user may change again"`
	PasswordRegex                                        string   `ini:"password_regex" effect:"yes" help:"pattern new passwords must match (Python re syntax, lookaheads common)"`
	PasswordRegexDescription                             string   `ini:"password_regex_description" effect:"yes" help:"text shown when the pattern fails"`
	ChangePasswordUponFirstUse                           bool     `ini:"change_password_upon_first_use" default:"False" effect:"yes" help:"new or reset passwords are expired at once"`
	ReportInvalidPasswordHash                            []string `ini:"report_invalid_password_hash" default:"" help:"send an HMAC of wrong passwords to the event channel"`
	InvalidPasswordHashSecretKey                         string   `ini:"invalid_password_hash_secret_key" secret:"yes" help:"key of that HMAC"`
	InvalidPasswordHashFunction                          string   `ini:"invalid_password_hash_function" default:"sha256" help:"hash of that HMAC"`
	InvalidPasswordHashMaxChars                          *int     `ini:"invalid_password_hash_max_chars" min:"1" help:"cut that HMAC to so many characters"`
	AllowInsecureAdminTrustCrossProjectCredentialsAccess bool     `ini:"allow_insecure_admin_trust_cross_project_credentials_access" default:"False" removal:"since 2026.1" help:"lets admin delegated tokens reach credentials of other projects (off by default)"`
	AllowInsecureApplicationCredentialTrustEscalation    bool     `ini:"allow_insecure_application_credential_trust_escalation" default:"False" removal:"since 2026.1" help:"lets application-credential tokens manage trusts (off by default)"`
}
