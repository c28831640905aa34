package cw

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// things is a list for these tests.
func things() List {
	return List{Name: "things", Own: "-createdAt", Times: []string{"createdAt"}, Texts: []string{"name"}}
}

type thing struct {
	id, name string
	created  time.Time
}

// PageKey implements Keyed.
func (t thing) PageKey(field string) (key, id string) {
	if field == "name" {
		return t.name, t.id
	}
	return TimeKey(t.created), t.id
}

// cursorOf gives a cursor behind the first of two things.
func cursorOf(t *testing.T, l List, q PageQuery, filter ...string) string {
	t.Helper()
	q.Limit = 1
	start, err := l.Start(q, filter...)
	if err != nil {
		t.Fatal(err)
	}
	one := thing{NewID(), "a\u00fc<\x00", time.Unix(1, 5)}
	page := CutPage(start, []thing{one, {NewID(), "b", time.Unix(2, 0)}})
	if page.Next == "" || len(page.Items) != 1 {
		t.Fatalf("page %+v", page)
	}
	return page.Next
}

func TestStart(t *testing.T) {
	t.Parallel()
	own, err := things().Start(PageQuery{})
	if err != nil || own.Limit != PageDefault || own.Field != "createdAt" || !own.Descending || own.After {
		t.Errorf("the first page: %+v %v", own, err)
	}
	next := cursorOf(t, things(), PageQuery{Sort: "-name"}, "f")
	start, err := things().Start(PageQuery{Sort: "-name", Cursor: next, Limit: PageMax}, "f")
	if err != nil || !start.After || start.Key != "aü<\x00" || !IsID(start.ID) || start.Limit != PageMax || !start.Descending {
		t.Errorf("the next page: %+v %v", start, err)
	}
	if _, ok := start.KeyTime(); ok {
		t.Error("a name is read as a time")
	}
	start, err = things().Start(PageQuery{Cursor: cursorOf(t, things(), PageQuery{})})
	if at, ok := start.KeyTime(); err != nil || !ok || !at.Equal(time.Unix(1, 5)) {
		t.Errorf("the time of a cursor: %v %v %v", at, ok, err)
	}
}

func TestStartRefuses(t *testing.T) {
	t.Parallel()
	next := cursorOf(t, things(), PageQuery{}, "a", "b")
	elsewhere := things()
	elsewhere.Name = "others"
	forged := func(c cursor) string { // well made, of this list, with a wrong place
		c.List, c.Sort, c.Filter = "things", "-createdAt", fingerprint([]string{"a", "b"})
		return encodeCursor(c)
	}
	for name, c := range map[string]struct {
		q      PageQuery
		filter []string
		text   string // of message or hint
	}{
		"limit -1":         {PageQuery{Limit: -1}, nil, "cannot have -1 items"},
		"limit too great":  {PageQuery{Limit: PageMax + 1}, nil, "cannot have 1001 items"},
		"limit huge":       {PageQuery{Limit: math.MinInt}, nil, "from 1 to 1000"},
		"sort unknown":     {PageQuery{Sort: "shoe"}, nil, "createdAt, name"},
		"sort near":        {PageQuery{Sort: "-creatdAt"}, nil, "did you mean createdAt?"},
		"sort twice":       {PageQuery{Sort: "--name"}, nil, "did you mean name?"},
		"sort empty":       {PageQuery{Sort: "-"}, nil, "createdAt, name"},
		"sort SQL":         {PageQuery{Sort: "name; DROP TABLE agents"}, nil, "createdAt, name"},
		"cursor SQL":       {PageQuery{Cursor: "' OR 1=1 --"}, nil, "made by hand"},
		"cursor negative":  {PageQuery{Cursor: "-1"}, nil, "made by hand"},
		"cursor number":    {PageQuery{Cursor: "99999999999999999999"}, nil, "made by hand"},
		"cursor huge":      {PageQuery{Cursor: strings.Repeat("A", 1<<20)}, nil, "made by hand"},
		"cursor cut":       {PageQuery{Cursor: next[:len(next)-1]}, []string{"a", "b"}, "made by hand"},
		"cursor longer":    {PageQuery{Cursor: next + "A"}, []string{"a", "b"}, "made by hand"},
		"cursor padded":    {PageQuery{Cursor: next + "="}, []string{"a", "b"}, "made by hand"},
		"cursor in lines":  {PageQuery{Cursor: next[:9] + "\n" + next[9:]}, []string{"a", "b"}, "made by hand"},
		"other order":      {PageQuery{Cursor: next, Sort: "createdAt"}, []string{"a", "b"}, "another order"},
		"other field":      {PageQuery{Cursor: next, Sort: "name"}, []string{"a", "b"}, "another order"},
		"other filter":     {PageQuery{Cursor: next}, []string{"a", "c"}, "another filter"},
		"filters run over": {PageQuery{Cursor: next}, []string{"ab", ""}, "another filter"},
		"other list":       {PageQuery{Cursor: cursorOf(t, elsewhere, PageQuery{}, "a", "b")}, []string{"a", "b"}, "another list"},
		"no time":          {PageQuery{Cursor: forged(cursor{Key: "yesterday", ID: NewID()})}, []string{"a", "b"}, "names no time"},
		"time not whole":   {PageQuery{Cursor: forged(cursor{Key: "2026-01-02T03:04:05.1Z", ID: NewID()})}, []string{"a", "b"}, "names no time"},
		"no id":            {PageQuery{Cursor: forged(cursor{Key: TimeKey(time.Unix(1, 0)), ID: "x' OR 1"})}, []string{"a", "b"}, "made by hand"},
	} {
		_, err := things().Start(c.q, c.filter...)
		if ErrorCode(err) != CodeInvalid || !strings.Contains(err.Error()+" "+ErrorHint(err), c.text) {
			t.Errorf("%s: %v (hint %q), want %q", name, err, ErrorHint(err), c.text)
		}
	}
	if _, err := things().Start(PageQuery{Cursor: next}, "a", "b"); err != nil {
		t.Errorf("the cursor itself: %v", err)
	}
}

// One letter more, less or other makes a cursor worthless: no mistyped one
// leads somewhere else.
func TestCursorIsWhole(t *testing.T) {
	t.Parallel()
	good := cursorOf(t, things(), PageQuery{})
	for i := range len(good) {
		for _, bad := range []string{good[:i] + good[i+1:], good[:i] + "A" + good[i:], good[:i] + swap(good[i]) + good[i+1:]} {
			if c, err := decodeCursor(bad); err == nil && bad != good {
				t.Fatalf("%q was read as %+v", bad, c)
			}
		}
	}
}

func swap(b byte) string {
	if b == 'A' {
		return "B"
	}
	return "A"
}

func TestCursorVersion(t *testing.T) {
	t.Parallel()
	c, err := decodeCursor(encodeCursor(cursor{List: "l", ID: NewID()}))
	if err != nil || c.Version != cursorVersion {
		t.Fatalf("%+v %v", c, err)
	}
	if long := encodeCursor(cursor{List: "l", ID: NewID(), Key: strings.Repeat("a", cursorMax)}); long != "" {
		if _, err := decodeCursor(long); err == nil {
			t.Errorf("a cursor of %d bytes was read", len(long))
		}
	}
	data, _ := base64.RawURLEncoding.DecodeString(encodeCursor(c))
	text := string(data[cursorSum:])
	if !strings.Contains(text, `"v":1`) {
		t.Errorf("a cursor holds %q", text)
	}
	if _, err := decodeCursor(summed(text)); err != nil {
		t.Errorf("a cursor made here: %v", err)
	}
	if other, err := decodeCursor(summed(strings.Replace(text, `"v":1`, `"v":2`, 1))); err == nil {
		t.Errorf("a cursor of another version was read as %+v", other)
	}
}

// summed makes a cursor of its text.
func summed(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(append(sum[:cursorSum:cursorSum], text...))
}

// numbered is a list of so many numbers, and the limits that it was asked with.
type numbered struct {
	size   int
	limits []int
}

func (l *numbered) page(_ context.Context, q PageQuery) (Page[int], error) {
	l.limits = append(l.limits, q.Limit)
	at, _ := strconv.Atoi(q.Cursor) // "" is the beginning
	end := min(at+q.Limit, l.size)
	p := Page[int]{Items: []int{}}
	for ; at < end; at++ {
		p.Items = append(p.Items, at)
	}
	if end < l.size {
		p.Next = strconv.Itoa(end)
	}
	return p, nil
}

// TestSomePages: no page is asked for beyond what is wanted.
func TestSomePages(t *testing.T) {
	t.Parallel()
	const size = 2*PageMax + 5
	for most, want := range map[int][]int{
		0: {PageMax, PageMax, PageMax}, 1: {1}, PageMax: {PageMax}, PageMax + 1: {PageMax, 1},
		size: {PageMax, PageMax, 5}, size + 1: {PageMax, PageMax, 6},
	} {
		list := &numbered{size: size}
		got, err := SomePages(t.Context(), most, list.page)
		if err != nil || !slices.Equal(list.limits, want) {
			t.Errorf("of %d: pages of %v, want %v (%v)", most, list.limits, want, err)
		}
		wanted := size
		if most > 0 {
			wanted = min(most, size)
		}
		if len(got) != wanted || !slices.IsSorted(got) {
			t.Errorf("of %d: %d items", most, len(got))
		}
	}
	broken := errors.New("broken")
	_, err := AllPages(t.Context(), func(context.Context, PageQuery) (Page[int], error) { return Page[int]{}, broken })
	if !errors.Is(err, broken) {
		t.Errorf("a page that fails: %v", err)
	}
}

// agentLister is the part of an AgentService that lists.
type agentLister struct {
	AgentService
	asked []AgentFilter
}

func (l *agentLister) Agents(_ context.Context, f AgentFilter) (Page[AgentView], error) {
	l.asked = append(l.asked, f)
	if len(l.asked) == 1 {
		return Page[AgentView]{Items: make([]AgentView, 1), Next: "next"}, nil
	}
	return Page[AgentView]{Items: make([]AgentView, 1)}, nil
}

// TestAllAgents: every page is of the same filter and order, and the first is
// the first.
func TestAllAgents(t *testing.T) {
	t.Parallel()
	list := &agentLister{}
	filter := AgentFilter{PageQuery: PageQuery{Limit: 5, Cursor: "elsewhere", Sort: "-name"}, Provider: "p"}
	agents, err := AllAgents(t.Context(), list, filter)
	if err != nil || len(agents) != 2 || len(list.asked) != 2 {
		t.Fatalf("%d agents in %d pages, %v", len(agents), len(list.asked), err)
	}
	for i, want := range []PageQuery{{Limit: 5, Sort: "-name"}, {Limit: 4, Sort: "-name", Cursor: "next"}} {
		if got := list.asked[i]; got.PageQuery != want || got.Provider != "p" {
			t.Errorf("page %d was asked with %+v", i, got)
		}
	}
}

func TestCutPage(t *testing.T) {
	t.Parallel()
	start := PageStart{Limit: 2, Field: "name"}
	for n, want := range map[int]int{0: 0, 1: 1, 2: 2, 3: 2, 9: 2} {
		page := CutPage(start, make([]thing, n))
		if page.Items == nil || len(page.Items) != want || (page.Next != "") != (n > 2) {
			t.Errorf("of %d: %+v", n, page)
		}
	}
	if page := CutPage[thing](start, nil); page.Items == nil {
		t.Error("no items are null")
	}
}

// Keys of times sort as the times do, also where one has fewer digits.
func TestTimeKeys(t *testing.T) {
	t.Parallel()
	times := []time.Time{{}, time.Unix(5, 0), time.Unix(5, 1), time.Unix(5, 10), time.Unix(5, 1e8), time.Unix(6, 0)}
	for i, a := range times {
		if back, err := ParseTimeKey(TimeKey(a)); err != nil || !back.Equal(a) || !isTimeKey(TimeKey(a)) {
			t.Errorf("%v reads back as %v %v", a, back, err)
		}
		for j, b := range times {
			if (TimeKey(a) < TimeKey(b)) != (i < j) {
				t.Errorf("%s before %s", TimeKey(a), TimeKey(b))
			}
		}
	}
}

func TestAgentFilterStart(t *testing.T) {
	t.Parallel()
	next := ""
	for _, statuses := range [][]AgentStatus{{StatusIdle, StatusCrashed}, {StatusCrashed, StatusIdle, StatusIdle}} {
		start, err := AgentFilter{Statuses: statuses, PageQuery: PageQuery{Cursor: next, Limit: 1}}.Start()
		if err != nil {
			t.Fatalf("the same filter in other words: %v", err)
		}
		next = CutPage(start, []Agent{{ID: AgentID(NewID())}, {}}).Next
	}
	other := []AgentFilter{
		{}, {Statuses: []AgentStatus{StatusIdle}}, {Project: "crashed,idle"}, {Provider: "p"}, {Initiative: "i"}, {SeenBy: "o"},
	}
	for _, f := range other {
		f.Cursor = next
		if _, err := f.Start(); ErrorCode(err) != CodeInvalid {
			t.Errorf("%+v takes a cursor of another filter", f)
		}
	}
	_, err := AgentFilter{Statuses: []AgentStatus{"runing"}}.Start()
	if ErrorCode(err) != CodeInvalid || !strings.Contains(ErrorHint(err), "did you mean running?") {
		t.Errorf("an unknown status: %v (%s)", err, ErrorHint(err))
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"goal", "mode", "model", "name", "projects"}
	for word, want := range map[string]string{
		"gaol": "goal", "goals": "goal", "modell": "model", "mod": "mode", "project": "projects", "prjects": "projects",
		"": "", "xx": "", "o": "", "projekte": "projects", "somethingelse": "", "GOAL": "",
	} {
		if got, ok := Nearest(word, names); got != want || ok != (want != "") {
			t.Errorf("nearest to %q is %q, want %q", word, got, want)
		}
	}
	if got, ok := Nearest("a", []string{"b", "id"}); ok {
		t.Errorf("one letter of one: %q", got)
	}
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add("")
	f.Add("-1")
	f.Add(encodeCursor(cursor{List: "agents", Sort: "-createdAt", Filter: fingerprint(nil), Key: TimeKey(time.Unix(1, 0)), ID: NewID()}))
	f.Fuzz(func(t *testing.T, s string) {
		c, err := decodeCursor(s)
		if err == nil && (encodeCursor(c) != s || !IsID(c.ID) || c.Version != cursorVersion) {
			t.Errorf("%q was read as %+v", s, c)
		}
		for _, l := range []List{AgentList(), ProjectList(), TokenList()} {
			if start, err := l.Start(PageQuery{Cursor: s}); err != nil && ErrorCode(err) != CodeInvalid || err == nil && start.After == (s == "") {
				t.Errorf("%q: %+v %v", s, start, err)
			}
		}
	})
}

// Any place comes back out of its cursor as it went in.
func FuzzEncodeCursor(f *testing.F) {
	f.Add("brave-otter", "-name", "a")
	f.Fuzz(func(t *testing.T, key, sort, filter string) {
		in := cursor{List: "l", Sort: strings.ToValidUTF8(sort, ""), Filter: fingerprint([]string{filter}), Key: strings.ToValidUTF8(key, ""), ID: NewID()}
		text := encodeCursor(in)
		out, err := decodeCursor(text)
		in.Version = cursorVersion
		if len(text) <= cursorMax && (err != nil || out != in) {
			t.Errorf("%+v came back as %+v: %v", in, out, err)
		}
	})
}
