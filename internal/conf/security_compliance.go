package conf

// SecurityCompliance is the section [security_compliance]: lock-out, and the age and form of passwords.
type SecurityCompliance struct {
	DisableUserAccountDaysInactive                       *int     `ini:"disable_user_account_days_inactive" min:"1" effect:"yes" help:"days without a login after which a user counts as disabled"`
	LockoutFailureAttempts                               *int     `ini:"lockout_failure_attempts" min:"1" effect:"yes" help:"failed logins after which a user is locked out"`
	LockoutDuration                                      int      `ini:"lockout_duration" default:"1800" min:"1" effect:"yes" help:"seconds that a lock-out lasts"`
	PasswordExpiresDays                                  *int     `ini:"password_expires_days" min:"1" effect:"yes" help:"days that a new password is good for"`
	UniqueLastPasswordCount                              int      `ini:"unique_last_password_count" default:"0" min:"0" effect:"yes" help:"earlier passwords that may not be used again"`
	MinimumPasswordAge                                   int      `ini:"minimum_password_age" default:"0" min:"0" effect:"yes" help:"days before users may change their password again"`
	PasswordRegex                                        string   `ini:"password_regex" effect:"yes" help:"pattern, as Python writes them, that a new password must match"`
	PasswordRegexDescription                             string   `ini:"password_regex_description" effect:"yes" help:"what users are told when it does not"`
	ChangePasswordUponFirstUse                           bool     `ini:"change_password_upon_first_use" default:"False" effect:"yes" help:"a password set by an administrator is good for one change only"`
	ReportInvalidPasswordHash                            []string `ini:"report_invalid_password_hash" items:"event" default:"" effect:"yes" help:"event adds a part of an HMAC of a wrong password to the notification of the failed login, so that a program with an old password is told from guesses"`
	InvalidPasswordHashSecretKey                         string   `ini:"invalid_password_hash_secret_key" secret:"yes" effect:"yes" help:"key of that HMAC, the same on all servers"`
	InvalidPasswordHashFunction                          string   `ini:"invalid_password_hash_function" default:"sha256" effect:"yes" help:"hash of that HMAC: sha1, sha224, sha256, sha384, sha512"`
	InvalidPasswordHashMaxChars                          *int     `ini:"invalid_password_hash_max_chars" min:"1" effect:"yes" help:"characters of that HMAC that are told; unset, all of them. Few are safer"`
	AllowInsecureAdminTrustCrossProjectCredentialsAccess bool     `ini:"allow_insecure_admin_trust_cross_project_credentials_access" default:"False" effect:"yes" removal:"since 2026.1" help:"lets admin delegated tokens reach credentials of other projects (off by default)"`
	AllowInsecureApplicationCredentialTrustEscalation    bool     `ini:"allow_insecure_application_credential_trust_escalation" default:"False" removal:"since 2026.1" help:"lets application-credential tokens manage trusts (off by default)"`
}
