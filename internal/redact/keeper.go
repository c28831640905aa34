package redact

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"cw/internal/safefile"
)

// FileName is the name of such a file beside the output that it is for.
const FileName = "masks"

const (
	keySize = 32 // bytes: AES-256
	// sealedMax bounds what is read of a sealed file.
	sealedMax = 1 << 20
)

// Keeper keeps secrets that live in somebody's memory alone, so that whoever
// comes after still masks them. Each list is a file of its own, sealed with a
// key that lies elsewhere: a copy or a search of that file tells nothing. Who can
// read both can read the secrets. A nil Keeper keeps nothing.
type Keeper struct {
	// Key is the file of the key. It is made, 0600, with the first list.
	Key string
}

// Keep writes secrets into a file, whole or not at all.
func (k *Keeper) Keep(file string, secrets []string) error {
	if k == nil || len(secrets) == 0 {
		return nil
	}
	key, err := k.key(true)
	if err != nil {
		return fmt.Errorf("keep what is masked: %w", err)
	}
	plain, err := json.Marshal(secrets)
	if err != nil {
		return fmt.Errorf("keep what is masked: %w", err)
	}
	if err := write(file, key.Seal(nil, nil, plain, nil), os.Rename); err != nil {
		return fmt.Errorf("keep what is masked: %w", err)
	}
	return nil
}

// Recall reads the secrets of a file. There are none when there is no file.
func (k *Keeper) Recall(file string) ([]string, error) {
	if k == nil {
		return nil, nil
	}
	sealed, err := read(file, sealedMax)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what is masked: %w", err)
	}
	key, err := k.key(false)
	if err != nil {
		return nil, fmt.Errorf("read what is masked: %w", err)
	}
	plain, err := key.Open(nil, nil, sealed, nil)
	if err != nil {
		return nil, fmt.Errorf("read what is masked: %s was not sealed with %s: %w", file, k.Key, err)
	}
	var secrets []string
	if err := json.Unmarshal(plain, &secrets); err != nil {
		return nil, fmt.Errorf("read what is masked: %s holds no list", file)
	}
	return secrets, nil
}

// key reads the key, and makes it when there is none. One that is damaged is
// replaced: what it sealed cannot be read any more.
func (k *Keeper) key(orMake bool) (cipher.AEAD, error) {
	key, err := read(k.Key, sealedMax)
	if orMake && (errors.Is(err, fs.ErrNotExist) || err == nil && len(key) != keySize) {
		if err := k.makeKey(err == nil); err != nil {
			return nil, err
		}
		key, err = read(k.Key, sealedMax)
	}
	if err != nil {
		return nil, err
	}
	b, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("%s holds no key", k.Key)
	}
	return cipher.NewGCMWithRandomNonce(b)
}

// makeKey makes the key, unless somebody was quicker.
func (k *Keeper) makeKey(anew bool) error {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	if err := os.MkdirAll(filepath.Dir(k.Key), 0o700); err != nil {
		return err
	}
	put := os.Link
	if anew {
		put = os.Rename
	}
	if err := write(k.Key, key, put); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// write writes a file of ours beside its place and puts it there.
func write(name string, data []byte, put func(from, to string) error) error {
	tmp, err := os.CreateTemp(filepath.Dir(name), ".writing-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone already when it was renamed
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return put(tmp.Name(), name)
}

// read reads a regular file of cw's own, at most limit bytes. Agents can reach it.
func read(name string, limit int64) ([]byte, error) {
	data, err := safefile.Read(name, limit)
	if errors.Is(err, safefile.ErrIrregular) || errors.Is(err, safefile.ErrTooLarge) {
		return nil, fmt.Errorf("%s is no file that cw wrote: %w", name, err)
	}
	return data, err
}
