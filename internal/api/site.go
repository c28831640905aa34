package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"cw/internal/cw"
)

// sitePolicy is what the dashboard's pages may do: run, show and ask what this
// daemon serves, and nothing else. ProseMirrorClipboard is the one policy of
// the editor, for what is pasted.
const sitePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; " +
	"connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types ProseMirrorClipboard"

// siteIndex is the page that stands for every address of the dashboard: which
// one is shown decides its script.
const siteIndex = "index.html"

// site is the files of the dashboard. They hold no data, so nobody needs a
// token for them. nil: there is none.
type site struct {
	files map[string]*siteFile // by path without the leading slash
}

// siteFile is one file as it is sent.
type siteFile struct {
	kind   string // Content-Type
	keep   string // Cache-Control
	tag    string // ETag, without quotes
	plain  []byte
	packed func() []byte // by gzip, made once; nil: it would not help
}

// newSite reads all files, so that a request names one of these or nothing.
func newSite(files fs.FS) (*site, error) {
	if files == nil {
		return nil, nil
	}
	s := &site{files: map[string]*siteFile{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err == nil {
			s.files[name] = newSiteFile(name, data)
		}
		return err
	})
	if err == nil && s.files[siteIndex] == nil {
		err = fmt.Errorf("there is no %s", siteIndex)
	}
	if err != nil {
		return nil, fmt.Errorf("read the files of the dashboard: %w", err)
	}
	return s, nil
}

func newSiteFile(name string, data []byte) *siteFile {
	kind, text := kindOf(name)
	sum := sha256.Sum256(data)
	f := &siteFile{kind: kind, keep: "no-cache", tag: hex.EncodeToString(sum[:8]), plain: data}
	if strings.HasPrefix(name, "assets/") { // its name has a hash of what is in it
		f.keep = "max-age=31536000, immutable"
	}
	if text {
		f.packed = sync.OnceValue(func() []byte { return pack(data) })
	}
	return f
}

// kindOf gives the Content-Type of a file and whether gzip makes it shorter.
// The system's table of types is not asked: it differs between machines.
func kindOf(name string) (kind string, text bool) {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8", true
	case ".js":
		return "text/javascript; charset=utf-8", true
	case ".css":
		return "text/css; charset=utf-8", true
	case ".json", ".map":
		return "application/json", true
	case ".webmanifest":
		return "application/manifest+json", true
	case ".svg":
		return "image/svg+xml", true
	case ".txt":
		return "text/plain; charset=utf-8", true
	case ".png":
		return "image/png", false
	case ".ico":
		return "image/x-icon", false
	case ".woff2":
		return "font/woff2", false
	}
	return "application/octet-stream", false
}

func pack(data []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one
	_, _ = w.Write(data)                                    // a Buffer takes all
	_ = w.Close()
	return out.Bytes()
}

// wants tells whether a request is for a file or a page of the dashboard: it
// reads, and it names nothing of the API.
func (s *site) wants(r *http.Request) bool {
	if s == nil || r.Method != http.MethodGet && r.Method != http.MethodHead {
		return false
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	return !slices.Contains([]string{"v1", "healthz", "metrics"}, first)
}

// find gives the file at a path. Every other path without an extension is an
// address of the dashboard.
func (s *site) find(at string) *siteFile {
	name := strings.TrimPrefix(at, "/")
	if f := s.files[name]; f != nil {
		return f
	}
	if path.Ext(name) != "" || strings.HasPrefix(name, "assets/") || path.Clean(at) != strings.TrimSuffix(at, "/") && at != "/" {
		return nil
	}
	return s.files[siteIndex]
}

// serveSite answers with a file of the dashboard.
func (s *Server) serveSite(w *answer, r *http.Request) {
	f := s.site.find(r.URL.Path)
	if f == nil {
		s.writeError(r.Context(), w, cw.Errorf(cw.CodeNotFound, "the dashboard has no file %.200q", r.URL.Path))
		return
	}
	w.dress = func(h http.Header) {
		secure(h)
		h.Set("Content-Security-Policy", sitePolicy)
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()")
		h.Set("Cache-Control", f.keep)
	}
	data, tag := f.plain, f.tag
	h := w.Header()
	if f.packed != nil {
		h.Add("Vary", "Accept-Encoding")
		if takesGzip(r.Header) {
			h.Set("Content-Encoding", "gzip")
			data, tag = f.packed(), tag+"-gzip"
		}
	}
	h.Set("ETag", `"`+tag+`"`)
	if headerHas(r.Header, "If-None-Match", `"`+tag+`"`) || headerHas(r.Header, "If-None-Match", `W/"`+tag+`"`) {
		h.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", f.kind)
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodGet {
		_, _ = w.Write(data) // the browser is gone when this fails
	}
}

// takesGzip tells whether the sender of these headers reads gzip.
func takesGzip(h http.Header) bool {
	for _, value := range h.Values("Accept-Encoding") {
		for one := range strings.SplitSeq(value, ",") {
			name, weight, _ := strings.Cut(one, ";")
			if strings.EqualFold(strings.TrimSpace(name), "gzip") && strings.Trim(strings.ReplaceAll(weight, " ", ""), "0.") != "q=" {
				return true
			}
		}
	}
	return false
}
