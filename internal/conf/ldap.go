package conf

// LDAP is the section [ldap]: the directory behind the LDAP driver.
type LDAP struct {
	URL                                string   `ini:"url" default:"ldap://localhost" help:"server URL list"`
	RandomizeURLs                      bool     `ini:"randomize_urls" default:"False" help:"shuffle the URL list"`
	User                               string   `ini:"user" help:"bind DN"`
	Password                           string   `ini:"password" secret:"yes" help:"bind password"`
	Suffix                             string   `ini:"suffix" default:"cn=example,cn=com" help:"base DN when tree DNs are unset"`
	QueryScope                         string   `ini:"query_scope" default:"one" choices:"one,sub" help:"one level or subtree"`
	PageSize                           int      `ini:"page_size" default:"0" min:"0" help:"paged-results size; 0 off"`
	AliasDereferencing                 string   `ini:"alias_dereferencing" default:"default" choices:"never,searching,always,finding,default" help:"alias handling"`
	DebugLevel                         *int     `ini:"debug_level" min:"-1" help:"client library trace bits"`
	ChaseReferrals                     *bool    `ini:"chase_referrals" help:"follow referrals"`
	UserTreeDN                         string   `ini:"user_tree_dn" help:"user base DN"`
	UserFilter                         string   `ini:"user_filter" help:"extra user filter"`
	UserObjectclass                    string   `ini:"user_objectclass" default:"inetOrgPerson" help:"user object class"`
	UserIDAttribute                    string   `ini:"user_id_attribute" default:"cn" help:"user id attribute"`
	UserNameAttribute                  string   `ini:"user_name_attribute" default:"sn" help:"user name attribute"`
	UserDescriptionAttribute           string   `ini:"user_description_attribute" default:"description" help:"user description attribute"`
	UserMailAttribute                  string   `ini:"user_mail_attribute" default:"mail" help:"user mail attribute"`
	UserPassAttribute                  string   `ini:"user_pass_attribute" default:"userPassword" help:"user password attribute"`
	UserEnabledAttribute               string   `ini:"user_enabled_attribute" default:"enabled" help:"attribute behind enabled"`
	UserEnabledInvert                  bool     `ini:"user_enabled_invert" default:"False" help:"flip the enabled value"`
	UserEnabledMask                    int      `ini:"user_enabled_mask" default:"0" min:"0" help:"bit that means disabled"`
	UserEnabledDefault                 string   `ini:"user_enabled_default" default:"True" help:"value when the attribute is absent"`
	UserAttributeIgnore                []string `ini:"user_attribute_ignore" default:"default_project_id" help:"user attributes never read or written"`
	UserDefaultProjectIDAttribute      string   `ini:"user_default_project_id_attribute" help:"default project attribute"`
	UserEnabledEmulation               bool     `ini:"user_enabled_emulation" default:"False" help:"enabled = member of a group"`
	UserEnabledEmulationDN             string   `ini:"user_enabled_emulation_dn" help:"that group"`
	UserEnabledEmulationUseGroupConfig bool     `ini:"user_enabled_emulation_use_group_config" default:"False" help:"use group class/member settings for it"`
	UserAdditionalAttributeMapping     []string `ini:"user_additional_attribute_mapping" default:"" help:"extra user attribute pairs"`
	GroupTreeDN                        string   `ini:"group_tree_dn" help:"group base DN"`
	GroupFilter                        string   `ini:"group_filter" help:"extra group filter"`
	GroupObjectclass                   string   `ini:"group_objectclass" default:"groupOfNames" help:"group object class"`
	GroupIDAttribute                   string   `ini:"group_id_attribute" default:"cn" help:"group id attribute"`
	GroupNameAttribute                 string   `ini:"group_name_attribute" default:"ou" help:"group name attribute"`
	GroupMemberAttribute               string   `ini:"group_member_attribute" default:"member" help:"member attribute"`
	GroupMembersAreIDs                 bool     `ini:"group_members_are_ids" default:"False" help:"members hold user ids, not DNs"`
	GroupDescAttribute                 string   `ini:"group_desc_attribute" default:"description" help:"group description attribute"`
	GroupAttributeIgnore               []string `ini:"group_attribute_ignore" default:"" help:"group attributes never read or written"`
	GroupAdditionalAttributeMapping    []string `ini:"group_additional_attribute_mapping" default:"" help:"extra group attribute pairs"`
	GroupADNesting                     bool     `ini:"group_ad_nesting" default:"False" help:"Active Directory nested-group filter"`
	TLSCacertfile                      string   `ini:"tls_cacertfile" help:"CA file"`
	TLSCacertdir                       string   `ini:"tls_cacertdir" help:"CA directory"`
	UseTLS                             bool     `ini:"use_tls" default:"False" help:"StartTLS"`
	TLSReqCert                         string   `ini:"tls_req_cert" default:"demand" choices:"demand,never,allow" help:"certificate checking"`
	ConnectionTimeout                  int      `ini:"connection_timeout" default:"-1" min:"-1" help:"connect timeout; -1 none"`
	UsePool                            bool     `ini:"use_pool" default:"True" help:"pool service connections"`
	PoolSize                           int      `ini:"pool_size" default:"10" min:"1" help:"pool size"`
	PoolRetryMax                       int      `ini:"pool_retry_max" default:"3" min:"1" help:"connect tries"`
	PoolRetryDelay                     float64  `ini:"pool_retry_delay" default:"0.1" help:"pause between tries"`
	PoolConnectionTimeout              int      `ini:"pool_connection_timeout" default:"-1" min:"-1" help:"pool connect timeout"`
	PoolConnectionLifetime             int      `ini:"pool_connection_lifetime" default:"600" min:"1" help:"pooled connection age"`
	UseAuthPool                        bool     `ini:"use_auth_pool" default:"True" help:"pool end-user binds"`
	AuthPoolSize                       int      `ini:"auth_pool_size" default:"100" min:"1" help:"size of that pool"`
	AuthPoolConnectionLifetime         int      `ini:"auth_pool_connection_lifetime" default:"60" min:"1" help:"age in that pool"`
}
