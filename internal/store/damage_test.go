package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sqlite3 "modernc.org/sqlite/lib"

	"cw/internal/cw"
)

// filled makes a folder with both databases closed and some rows in them.
func filled(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// fill stores enough for several pages of each database.
func fill(t *testing.T, db *DB) {
	t.Helper()
	b := &bench{DB: db, t: t}
	var events []cw.Event
	var chunks []cw.Chunk
	for i := range 40 {
		events = append(events, event(cw.EventAgentWarning, strings.Repeat(fmt.Sprint(i), 300)))
		chunks = append(chunks, cw.Chunk{AgentID: "a", SessionNumber: 1, Offset: int64(i) * 1000, Bytes: make([]byte, 1000)})
	}
	b.must(b.AddEvents(t.Context(), events...))
	b.must(b.log.write.Table(chunkTable).Create(&chunks).Error)
}

// sums gives the content of the databases and their write-ahead logs. An empty
// log says nothing; SQLite makes one even to read.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, name := range []string{stateName, stateName + "-wal", logName, logName + "-wal"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) == 0 && name != stateName {
			continue
		}
		if err == nil {
			out[name] = fmt.Sprintf("%d bytes, %x", len(data), sha256.Sum256(data))
		} else {
			out[name] = err.Error()
		}
	}
	return out
}

func damages() map[string]func([]byte) []byte {
	overwrite := func(at, n int, with byte) func([]byte) []byte {
		return func(data []byte) []byte {
			for i := range n {
				data[at+i] = with
			}
			return data
		}
	}
	return map[string]func([]byte) []byte{
		"truncated in the middle": func(data []byte) []byte { return data[:len(data)/2] },
		"truncated in the header": func(data []byte) []byte { return data[:50] },
		"last page lost":          func(data []byte) []byte { return data[:len(data)-4096] },
		"not a database":          func([]byte) []byte { return []byte(strings.Repeat("this is a letter to my mother\n", 500)) },
		"a short text":            func([]byte) []byte { return []byte("hello\n") },
		"zeros in the header":     overwrite(0, 100, 0),
		"the schema overwritten":  overwrite(100, 2000, 0xff),
		"a page overwritten":      overwrite(3*4096, 4096, 0x5a),
		"another page emptied":    overwrite(2*4096, 4096, 0),
		"all pages but one":       func(data []byte) []byte { return overwrite(4096, len(data)-4096, 0xee)(data) },
		"all of it zero":          func(data []byte) []byte { return make([]byte, len(data)) },
	}
}

// TestDamaged opens databases that something destroyed: each is told with what
// to do, and nothing is written to it.
func TestDamaged(t *testing.T) {
	whole := filled(t)
	for _, name := range []string{stateName, logName} {
		for what, damage := range damages() {
			t.Run(name+" "+what, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(dir, name)
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, damage(data), 0o600); err != nil {
					t.Fatal(err)
				}
				openDamaged(t, dir, path)
			})
		}
	}
}

func openDamaged(t *testing.T, dir, path string) {
	t.Helper()
	before := sums(t, dir)
	db, err := Open(t.Context(), Options{Dir: dir})
	if err == nil {
		_ = db.Close()
		t.Fatal("it was opened")
	}
	refuses(t, err, cw.CodeFailed, "the database "+path+" is damaged")
	refuses(t, err, cw.CodeFailed, "backups")
	same(t, "files", sums(t, dir), before)
}

// TestDamagedAfterCrash has a write-ahead log beside the damaged database,
// which must not be played into it.
func TestDamagedAfterCrash(t *testing.T) {
	live := newBench(t)
	fill(t, live.DB)
	live.must(live.state.checkpoint(t.Context()))
	live.must(live.AddEvents(t.Context(), event(cw.EventAgentWarning, "in the log only")))
	dir := t.TempDir()
	for _, name := range []string{stateName, stateName + "-wal", stateName + "-seal"} { // as kill -9 leaves them
		data, err := os.ReadFile(filepath.Join(live.dir, name))
		live.must(err)
		if name == stateName {
			data = damages()["a page overwritten"](data)
		}
		live.must(os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	if len(sums(t, dir)) != 2 {
		t.Fatal("there is no write-ahead log")
	}
	openDamaged(t, dir, filepath.Join(dir, stateName))
}

// TestEmptied has a database of no bytes where there was one: SQLite alone
// would take it for new.
func TestEmptied(t *testing.T) {
	dir := filled(t)
	path := filepath.Join(dir, stateName)
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	openDamaged(t, dir, path)
}

func TestForeignFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, stateName)
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	refuses(t, err, cw.CodeFailed, "damaged")

	other := filled(t) // a database, but of somebody else
	b := &bench{t: t}
	d, err := connect(plan{path: filepath.Join(other, stateName), synchronous: "FULL", now: time.Now})
	b.must(err)
	b.must(d.write.Exec("DROP TABLE " + versionTable).Error)
	b.must(d.close())
	openDamaged(t, other, filepath.Join(other, stateName))
}

// TestFlippedBytes flips bytes anywhere: either the damage is told, then and
// later, or what is read is in order. Nothing crashes.
func TestFlippedBytes(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	dir := filled(t)
	whole, err := os.ReadFile(filepath.Join(dir, stateName))
	if err != nil {
		t.Fatal(err)
	}
	told := 0
	for range 30 {
		data := append([]byte(nil), whole...)
		for range 1 + random.IntN(30) {
			data[random.IntN(len(data))] ^= byte(1 << random.IntN(8))
		}
		if err := os.WriteFile(filepath.Join(dir, stateName), data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), Options{Dir: dir})
		if err != nil {
			told++
			if code := cw.ErrorCode(err); code != cw.CodeFailed && code != cw.CodeRefused {
				t.Errorf("told as %q: %v", code, err)
			}
			same(t, "bytes", sums(t, dir)[stateName], fmt.Sprintf("%d bytes, %x", len(data), sha256.Sum256(data)))
			continue
		}
		page, err := db.EventsAfter(t.Context(), 0, cw.EventFilter{}, 0)
		if err != nil {
			t.Logf("found while reading: %v", err)
		} else if len(page.Events) != 40 {
			t.Errorf("%d events were read from a file that passed", len(page.Events))
		}
		_ = db.Close() // it may notice more
		for _, end := range []string{"-wal", "-shm"} {
			_ = os.Remove(filepath.Join(dir, stateName+end))
		}
	}
	if told == 0 {
		t.Error("no damage was ever told")
	}
}

// TestUnwritable opens a store where no folder can be made.
func TestUnwritable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: filepath.Join(file, "home")})
	refuses(t, err, cw.CodeFailed, "cannot write")
	if os.Geteuid() == 0 {
		t.Log("as root permissions say nothing: the read-only folder is left out")
		return
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Dir: dir})
	refuses(t, err, cw.CodeFailed, "cannot write")
}

func TestCodes(t *testing.T) {
	const path = "/home/cw.db"
	for _, c := range []struct {
		code int
		want cw.Code
		text string
	}{
		{sqlite3.SQLITE_CONSTRAINT_UNIQUE, cw.CodeRefused, "exists"},
		{sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, cw.CodeRefused, "exists"},
		{sqlite3.SQLITE_FULL, cw.CodeFailed, "full"},
		{sqlite3.SQLITE_IOERR_WRITE, cw.CodeFailed, "error"},
		{sqlite3.SQLITE_IOERR_FSYNC, cw.CodeFailed, "error"},
		{sqlite3.SQLITE_CORRUPT, cw.CodeFailed, "damaged"},
		{sqlite3.SQLITE_CORRUPT_INDEX, cw.CodeFailed, "damaged"},
		{sqlite3.SQLITE_NOTADB, cw.CodeFailed, "damaged"},
		{sqlite3.SQLITE_BUSY, cw.CodeFailed, "locked"},
		{sqlite3.SQLITE_BUSY_SNAPSHOT, cw.CodeFailed, "locked"},
		{sqlite3.SQLITE_READONLY, cw.CodeFailed, "cannot write"},
		{sqlite3.SQLITE_CANTOPEN, cw.CodeFailed, "cannot write"},
	} {
		told := explainCode(path, c.code)
		if told == nil {
			t.Errorf("code %d is not told", c.code)
			continue
		}
		refuses(t, told, c.want, c.text)
		if c.want == cw.CodeFailed && told.Hint == "" {
			t.Errorf("code %d comes without a hint", c.code)
		}
	}
	if told := explainCode(path, sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY); told != nil {
		t.Errorf("a bug is told to people: %v", told)
	}
}

// TestAfterFailedSync: a database whose sync failed takes no more writes.
func TestAfterFailedSync(t *testing.T) {
	b := newBench(t)
	b.run()
	b.state.broken.Store(true)
	b.log.broken.Store(true)
	refuses(t, b.AddEvents(t.Context(), event(cw.EventAgentWarning, "w")), cw.CodeFailed, "cw restart")
	_, err := b.AppendChunks(t.Context(), []cw.Chunk{chunk("a", 1, 0, "x")})
	refuses(t, err, cw.CodeFailed, "cw restart")
	_, err = b.EventsAfter(t.Context(), 0, cw.EventFilter{}, 0) // reading goes on
	b.must(err)
}

// TestFailedSyncEndsRun: whoever runs the store is told that it must be opened
// anew, instead of waiting for what cannot be written.
func TestFailedSyncEndsRun(t *testing.T) {
	for _, which := range []func(*bench) *database{
		func(b *bench) *database { return b.state },
		func(b *bench) *database { return b.log },
	} {
		b := newBench(t)
		broken := which(b)
		broken.broken.Store(true)
		close(broken.down)
		refuses(t, b.Run(t.Context()), cw.CodeFailed, "cw restart")
	}
}
