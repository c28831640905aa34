package proc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// maxRecord is the size that is set aside for a record before the command is
// started, and the largest record that may be written into it.
const maxRecord = 4096

// maxJSON bounds what is read from a file of a run directory: an agent could
// write there.
const maxJSON = 4 << 20

// writeJSON replaces dir/name by the JSON of v: whole or not at all, and on
// disk when it returns.
func writeJSON(dir, name string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	f, err := os.CreateTemp(dir, name+".*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // gone already when the rename was made
	defer f.Close()
	if _, err := f.Write(append(b, '\n')); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return syncDir(dir)
}

// createJSON writes the JSON of v into a new file dir/name, on disk when it
// returns. A reader may see half of it; only that it is there must never be
// forgotten. One commit of the file system's journal instead of two.
func createJSON(dir, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", name, err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return syncDir(dir)
}

func readJSON(path string, v any) error {
	f, err := openRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxJSON))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return fmt.Errorf("decode %s: %w: %w", path, errDamaged, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// record is a file whose space was taken before it is needed, so that writing
// it works on a full disk.
type record struct {
	dir, name string
	f         *os.File
}

// reserveRecord takes maxRecord bytes for dir/name by writing blanks: a promise
// without a write (fallocate) is not kept by every file system. A local file
// system takes the space when the bytes are written; who must be sure of any
// other syncs the file.
func reserveRecord(dir, name string) (*record, error) {
	path := filepath.Join(dir, name+".tmp")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("set aside space: %w", err)
	}
	r := &record{dir: dir, name: name, f: f}
	if _, err := f.Write(bytes.Repeat([]byte{'\n'}, maxRecord)); err != nil {
		r.drop()
		return nil, fmt.Errorf("set aside space: %w", err)
	}
	return r, nil
}

// put writes v into the space that was taken and gives the file its name: whole
// or not at all for every process of this boot. It is not synced. After a power
// cut it may be missing or blank, and readers take both for no record.
func (r *record) put(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", r.name, err)
	}
	if len(b) >= maxRecord {
		return fmt.Errorf("write %s: %d bytes do not fit into %d", r.name, len(b), maxRecord)
	}
	if _, err := r.f.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	if err := os.Rename(r.f.Name(), filepath.Join(r.dir, r.name)); err != nil {
		return err
	}
	// JSON may end in blanks; cutting them off is for people who look.
	_ = r.f.Truncate(int64(len(b)) + 1)
	return r.f.Close()
}

// drop gives the space back.
func (r *record) drop() {
	r.f.Close()
	_ = os.Remove(filepath.Join(r.dir, r.name+".tmp"))
}
