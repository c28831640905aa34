package providers

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"cw/internal/cw"
	"cw/internal/safefile"
)

// carryMax is how many files a session may have: a pattern that finds a whole
// home is wrong.
const carryMax = 10_000

// carryFileBytes bounds one of these files, in bytes: a CLI could not read more back.
const carryFileBytes = 4 << 30

// Some CLIs name a session's file by the beginning of its id.
const (
	sessionHead      = 8
	sessionHeadPlace = "{{sessionIdHead}}"
)

// CarrySession copies the files of a session from one configuration directory
// to another, so that the CLI can resume it there. Nobody may write to the
// session meanwhile. carried tells that the session is there afterwards: false,
// without an error, when the provider's sessions cannot be carried or when there
// are no files of this one; then it needs a fresh session and a hand-over.
//
// Only regular files are copied, with mode 0600, and links are not followed. A
// file that is there already is kept when it is as long or longer, or newer:
// sessions only grow, so it is the later one. To do it twice does nothing more,
// and a copy that was cut short is done again.
func (p Preset) CarrySession(fromDir, toDir, sessionID string) (carried bool, err error) {
	if len(p.Account.Session.Files) == 0 || fromDir == "" || toDir == "" {
		return false, nil
	}
	if !sessionIDPattern().MatchString(sessionID) {
		return false, cw.Errorf(cw.CodeInvalid, "%q is no id of a session", shorten(sessionID))
	}
	from, err := os.OpenRoot(fromDir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("open the session's configuration directory: %w", err)
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	files, err := p.sessionFiles(from, sessionID)
	if err != nil || len(files) == 0 {
		return false, err
	}
	to, err := os.OpenRoot(toDir)
	if err != nil {
		return false, fmt.Errorf("open the account's configuration directory: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	for _, file := range files {
		if err := carryFile(from, to, file); err != nil {
			return false, fmt.Errorf("carry the session's file %s: %w", file, err)
		}
	}
	return true, nil
}

// sessionFiles lists the regular files of a session, below from.
func (p Preset) sessionFiles(from *os.Root, sessionID string) ([]string, error) {
	var out []string
	for _, pattern := range p.Account.Session.Files {
		pattern = strings.Replace(pattern, sessionIDPlace, sessionID, 1)
		pattern = strings.Replace(pattern, sessionHeadPlace, sessionID[:min(sessionHead, len(sessionID))], 1)
		found, err := fs.Glob(from.FS(), pattern)
		if err != nil {
			return nil, fmt.Errorf("find the session's files: %w", err)
		}
		for _, name := range found {
			if throughLink(from, name) {
				continue
			}
			files, err := regularFiles(from, name, carryMax-len(out))
			if err != nil {
				return nil, fmt.Errorf("find the session's files: %w", err)
			}
			out = append(out, files...)
		}
	}
	return out, nil
}

// throughLink tells whether a directory above the file is a link.
func throughLink(root *os.Root, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// regularFiles gives a file, or those of a directory and all below it.
func regularFiles(root *os.Root, name string, atMost int) ([]string, error) {
	info, err := root.Lstat(name)
	if err != nil || info.Mode().Type()&^fs.ModeDir != 0 {
		return nil, err // a link would be followed
	}
	var out []string
	err = fs.WalkDir(root.FS(), name, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if info, err := root.Lstat(file); err != nil || !info.Mode().IsRegular() {
			return err // a directory, a link, a pipe
		}
		if len(out) == atMost {
			return fmt.Errorf("a session of more than %d files is not carried", carryMax)
		}
		out = append(out, file)
		return nil
	})
	return out, err
}

// carryFile copies one file to the same place below to, by a rename: it is
// there whole or not at all.
func carryFile(from, to *os.Root, name string) (err error) {
	src, err := safefile.OpenIn(from, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	if info.Size() > carryFileBytes {
		return fmt.Errorf("%s has more than %d MiB and is not carried: %w", name, carryFileBytes>>20, safefile.ErrTooLarge)
	}
	if keep, err := keepsOwn(to, name, info); keep || err != nil {
		return err
	}
	if err := to.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	part := path.Join(path.Dir(name), ".cw-"+path.Base(name)+".part")
	if err := writePart(to, part, src, info); err != nil {
		return errors.Join(err, to.Remove(part))
	}
	if err := to.Rename(part, name); err != nil {
		return err
	}
	return syncDir(to, path.Dir(name))
}

// keepsOwn tells whether what is at the place already is to stay.
func keepsOwn(to *os.Root, name string, comes fs.FileInfo) (bool, error) {
	own, err := to.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !own.Mode().IsRegular():
		return false, errors.New("something else than a file is at its place")
	}
	return own.Size() >= comes.Size() || own.ModTime().After(comes.ModTime()), nil
}

// writePart writes the copy to disk, with the time of the original: a later
// comparison of the two is of what the CLI wrote.
func writePart(to *os.Root, part string, src io.Reader, info fs.FileInfo) error {
	if err := to.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // what a copy that was cut short left
	}
	f, err := to.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, io.LimitReader(src, info.Size())) // it may grow meanwhile
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return to.Chtimes(part, info.ModTime(), info.ModTime())
}

func syncDir(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
