package policy

// signatureRules guard tokens for signatures of EC2 and S3 requests.
var signatureRules = []Rule{
	{
		Name:        "identity:s3tokens_validate",
		Description: "exchange an S3 signature for a token",
		Check:       serviceOrAdmin,
		ScopeTypes:  anyScope,
		Operations:  []string{"POST /v3/s3tokens"},
	},
	{
		Name:        "identity:ec2tokens_validate",
		Description: "exchange an EC2 signature for a token",
		Check:       serviceOrAdmin,
		ScopeTypes:  anyScope,
		Operations:  []string{"POST /v3/ec2tokens"},
	},
}
