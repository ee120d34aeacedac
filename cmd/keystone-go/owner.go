package main

import (
	"errors"
	"fmt"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/keystone-go/keystone-go/internal/fernet"
)

// ownerFlags are --keystone-user and --keystone-group: whose the key files
// become. Root must give both, lest the server cannot read what he makes.
type ownerFlags struct{ user, group string }

func (o *ownerFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.user, "keystone-user", "", "`user` who is to own the keys; root has to name one")
	cmd.Flags().StringVar(&o.group, "keystone-group", "", "`group` that is to own the keys; root has to name one")
}

func (o *ownerFlags) resolve(cmd *cobra.Command, isRoot bool) (fernet.Owner, error) {
	if isRoot && (o.user == "" || o.group == "") {
		return fernet.Owner{}, usageError{errors.New("root needs --keystone-user and --keystone-group"), cmd}
	}
	owner := fernet.Owner{UID: -1, GID: -1}
	if o.user != "" {
		u, err := user.Lookup(o.user)
		if err != nil {
			u, err = user.LookupId(o.user)
		}
		if err != nil {
			return owner, fmt.Errorf("--keystone-user: there is no user %q", o.user)
		}
		if owner.UID, err = strconv.Atoi(u.Uid); err != nil {
			return owner, fmt.Errorf("--keystone-user: user %q has the id %q", o.user, u.Uid)
		}
	}
	if o.group != "" {
		g, err := user.LookupGroup(o.group)
		if err != nil {
			g, err = user.LookupGroupId(o.group)
		}
		if err != nil {
			return owner, fmt.Errorf("--keystone-group: there is no group %q", o.group)
		}
		if owner.GID, err = strconv.Atoi(g.Gid); err != nil {
			return owner, fmt.Errorf("--keystone-group: group %q has the id %q", o.group, g.Gid)
		}
	}
	return owner, nil
}
