package fernet

// Looks is how often the folder was looked at.
func (r *Repository) Looks() uint64 { return r.looks.Load() }

// RotateFailing is Rotate on a disk that fails where before says so.
func RotateFailing(dir string, maxActive int, before func(step, path string) error) error {
	return disk{before: before}.rotate(dir, maxActive, Owner{-1, -1})
}

// SetupFailing is Setup on a disk that fails where before says so.
func SetupFailing(dir string, before func(step, path string) error) error {
	return disk{before: before}.setup(dir, Owner{-1, -1})
}
