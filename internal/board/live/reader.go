package live

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
	"cw/internal/cw"
)

// pageEvents is how many events are read at once.
const pageEvents = 300

// reader reads the log of one agent: its end first, older pages when somebody
// scrolls up, and what comes as it comes.
type reader struct {
	agent  cw.AgentID
	ctx    context.Context // ends when another log is wanted
	stop   context.CancelFunc
	window window
	stream *stream // nil: the end is not held
	busy   bool    // a page is on its way
	asked  int     // number of the last page that was asked for
	lost   bool    // the daemon was away when a page was wanted
	enough bool    // nothing older is read until somebody scrolls
}

// part says which page is wanted.
type part int

const (
	partEnd   part = iota // the last one, instead of what is held
	partFirst             // the first one, instead of what is held
	partOlder
	partNewer
)

// paged is a page that was read.
type paged struct {
	from   *reader
	number int
	part   part
	page   cw.OutputPage
	err    error
}

// chase reads the log of another agent once the selection is another one.
func (m *Model) chase() tea.Cmd {
	if m.view.Log.Agent == m.view.AgentID {
		return nil
	}
	if m.reader != nil {
		m.reader.stop()
		m.reader = nil
	}
	m.view.Log = board.Log{Agent: m.view.AgentID, Busy: m.view.AgentID != ""}
	m.wanted++
	wish := m.wanted
	return tea.Tick(settle, func(time.Time) tea.Msg { return chosen{wish} })
}

// openLog begins to read the log of the selected agent, unless another one was
// selected meanwhile.
func (m *Model) openLog(wish int) tea.Cmd {
	agent, is := m.view.Agent()
	if !is || wish != m.wanted || m.reader != nil {
		return nil
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.reader = &reader{agent: agent.ID, ctx: ctx, stop: stop}
	m.reader.window.fresh = func() func(cw.OutputEvent) []string { return m.Lines(agent) }
	m.reader.window.clear()
	return m.readPage(partEnd)
}

// readPage asks for a page of the log. What is wanted instead of all that is held
// takes the place of a page that is on its way; else there is one at a time.
func (m *Model) readPage(which part) tea.Cmd {
	r := m.reader
	if r.busy && (which == partOlder || which == partNewer) {
		return nil
	}
	q := cw.OutputPageQuery{Limit: pageEvents}
	switch which {
	case partFirst:
		q.After = cw.OutputPlace{Offset: -1, N: -1}.String()
	case partOlder:
		q.Before = r.window.older
	case partNewer:
		q.After = r.window.newer
	}
	r.busy, r.lost, m.view.Log.Busy = true, false, true
	r.asked++
	number := r.asked
	return func() tea.Msg {
		page, err := m.Services.OutputPage(r.ctx, string(r.agent), q)
		return paged{r, number, which, page, err}
	}
}

// page takes a page.
func (m *Model) page(p paged) tea.Cmd {
	r := p.from
	if r != m.reader || p.number != r.asked {
		return nil
	}
	r.busy, m.view.Log.Busy = false, false
	switch {
	case p.err != nil:
		return m.noPage(p)
	case p.part == partOlder:
		return m.pageBefore(p.page)
	case p.part == partNewer:
		return m.pageBehind(p.page)
	}
	m.letGo()
	r.enough = false
	r.window.clear()
	r.window.older = p.page.Older
	log := &m.view.Log
	log.Replace(nil, false)
	log.Held, log.More = p.part == partFirst, true
	cmd := m.pageBehind(p.page)
	if p.part == partFirst {
		r.window.older = ""
		log.Top()
	}
	return cmd
}

// pageBefore takes a page before what is held, and the one before that while
// nothing of it is in sight.
func (m *Model) pageBefore(page cw.OutputPage) tea.Cmd {
	r, log := m.reader, &m.view.Log
	r.window.put(page)
	log.Replace(r.window.lines(), false)
	if r.window.full() {
		r.enough = true
		m.forget(log.Held)
	}
	if above, _ := log.Around(); log.Held && above < log.Rows() && r.window.older != "" {
		return m.readPage(partOlder)
	}
	return nil
}

// pageBehind takes a page behind what is held. When that is the end, what comes
// now is followed, else the next one is read while nothing of it is in sight.
func (m *Model) pageBehind(page cw.OutputPage) tea.Cmd {
	r, log := m.reader, &m.view.Log
	before := len(r.window.pieces)
	log.Extend(r.window.add(page.Items))
	r.window.newer = page.Newer
	if r.window.full() {
		first := before == 0 && log.Held // its beginning is what is wanted
		if m.forget(first); first {
			return nil
		}
	}
	if page.Stream == 0 && page.Newer != "" {
		if _, below := log.Around(); below < log.Rows() {
			return m.readPage(partNewer)
		}
		return nil
	}
	log.More = false
	r.stream = follow(r.ctx, m.Services, r.agent, cw.OutputQuery{AfterID: page.Stream, Until: cw.UntilClosed})
	return r.stream.next()
}

// noPage takes that a page could not be read. With the daemon away it is read when
// that is back.
func (m *Model) noPage(p paged) tea.Cmd {
	r := p.from
	switch r.enough = true; {
	case r.ctx.Err() != nil:
	case cw.ErrorCode(p.err) == cw.CodeUnreachable:
		r.lost = true
	case p.part == partEnd:
		m.view.Log.Add("error: the log cannot be read: " + p.err.Error())
	default:
		m.say(p.err)
	}
	return nil
}

// readAgain reads a log that was wanted while the daemon was away.
func (m *Model) readAgain() tea.Cmd {
	if m.reader == nil || !m.reader.lost {
		return nil
	}
	if m.reader.lost = false; m.reader.stream != nil || m.view.Log.Held {
		m.reader.enough = false
		return nil
	}
	return m.readPage(partEnd)
}

// letGo ends the stream.
func (m *Model) letGo() {
	if m.reader.stream != nil {
		m.reader.stream.stop()
		m.reader.stream = nil
	}
}

// log takes what came on the stream.
func (m *Model) log(l logged) tea.Cmd {
	if m.reader == nil || l.from != m.reader.stream {
		return nil
	}
	m.view.Log.Add(m.reader.window.add(l.events)...)
	if m.reader.window.full() {
		m.forget(m.view.Log.Held)
	}
	switch {
	case !l.over:
		return l.from.next()
	case l.from.err != nil:
		m.view.Log.Add("error: the log cannot be read: " + l.from.err.Error())
	}
	return nil
}

// forget makes room: what is oldest goes, or, while somebody reads that, what is
// newest. It is read again when somebody comes back to it.
func (m *Model) forget(newest bool) {
	w, log := &m.reader.window, &m.view.Log
	if !newest {
		w.forgetOldest()
		log.Replace(w.lines(), false)
		return
	}
	m.letGo()
	w.forgetNewest()
	log.Replace(w.lines(), true)
	log.More = true
}

// fill reads older pages until the screen is full.
func (m *Model) fill() tea.Cmd {
	r, log := m.reader, &m.view.Log
	if r == nil || r.stream == nil || r.enough || log.Held || r.window.older == "" {
		return nil
	}
	if above, _ := log.Around(); above >= log.Rows() {
		return nil
	}
	return m.readPage(partOlder)
}

// scrollLog moves in the log, and reads what comes into sight.
func (m *Model) scrollLog(name string, by int) tea.Cmd {
	r, log := m.reader, &m.view.Log
	switch {
	case r != nil && name == "home" && r.window.older != "":
		return m.readPage(partFirst)
	case r != nil && log.More && (name == "end" || name == "G"):
		return m.readPage(partEnd)
	}
	log.Scroll(by)
	if r == nil {
		return nil
	}
	above, below := log.Around()
	switch {
	case by < 0 && above < log.Rows() && r.window.older != "":
		return m.readPage(partOlder)
	case by > 0 && below < log.Rows() && log.More:
		return m.readPage(partNewer)
	}
	return nil
}

// holdLog holds the log, or follows its end again.
func (m *Model) holdLog() tea.Cmd {
	m.view.Log.Toggle()
	if log := &m.view.Log; m.reader != nil && !log.Held && log.More {
		return m.readPage(partEnd)
	}
	return nil
}
