module github.com/keystone-go/keystone-go/test/clients/gophercloud

go 1.26.0

require github.com/gophercloud/gophercloud/v2 v2.16.0
