package conf

import (
	"os"
	"path/filepath"
	"strings"
)

// standardDirs are the folders that oslo.config looks in, for the project
// keystone.
func standardDirs(env map[string]string) []string {
	var dirs []string
	if home := env["HOME"]; home != "" {
		dirs = append(dirs, filepath.Join(home, ".keystone"), home)
	}
	dirs = append(dirs, "/etc/keystone", "/etc")
	for _, v := range []string{"SNAP_COMMON", "SNAP"} {
		if snap := env[v]; snap != "" {
			dirs = append(dirs, filepath.Join(snap, "etc/keystone"))
		}
	}
	return dirs
}

// Find gives the files and folders that are read when the command line names
// none: keystone.conf and PROGRAM.conf, keystone.conf.d and PROGRAM.conf.d, each
// from the first standard folder that has it. OS_KEYSTONE_CONFIG_FILES
// (separated by ;) and OS_KEYSTONE_CONFIG_DIR come before the search.
func Find(program string, env []string) (files, dirs []string) {
	e := environment(env)
	if files := fromEnv(e); len(files) > 0 {
		return files, nil
	}
	names := []string{"keystone"}
	if program != "" && program != "keystone" {
		names = append(names, program)
	}
	for _, n := range names {
		if f := firstOf(standardDirs(e), n+".conf"); f != "" {
			files = append(files, f)
		}
		if d := firstOf(standardDirs(e), n+".conf.d"); d != "" {
			dirs = append(dirs, d)
		}
	}
	return files, dirs
}

// fromEnv is how the WSGI entry of Python Keystone is told its files.
func fromEnv(env map[string]string) []string {
	dir := env["OS_KEYSTONE_CONFIG_DIR"]
	var files []string
	for f := range strings.SplitSeq(env["OS_KEYSTONE_CONFIG_FILES"], ";") {
		if f = strings.TrimSpace(f); f != "" {
			files = append(files, filepath.Join(dir, f))
		}
	}
	if len(files) == 0 && dir != "" {
		files = []string{filepath.Join(dir, "keystone.conf")}
	}
	return files
}

func firstOf(dirs []string, name string) string {
	for _, d := range dirs {
		path := filepath.Join(d, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// fixPath makes a path absolute; ~ is the home folder.
func fixPath(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		path = home + path[1:]
	}
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return path
}

// escapeGlob takes the meaning from the characters that Glob would read.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}
