package live

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"cw/internal/board"
)

// key does what a key says where the person is. Letters never act while somebody
// types.
func (m *Model) key(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	switch {
	case name == "ctrl+c":
		return tea.Quit
	case name == "ctrl+z":
		return tea.Suspend
	case m.typed != nil:
		return m.typing(k)
	}
	m.view.Note = board.Note{}
	m.turn++
	switch {
	case m.view.Confirm != "":
		return m.confirmKey(name)
	case m.view.Sheet != nil:
		return m.sheetKey(name)
	case m.view.Asking != nil:
		return m.askingKey(name)
	case m.view.Opened:
		return m.openedKey(name)
	}
	return m.boardKey(name)
}

// scrolls gives by how much a key scrolls, 0 for one that does not.
func (m *Model) scrolls(name string) int {
	page := max(m.view.Height-6, 1) // one line of what was in sight stays
	switch name {
	case "j", "down":
		return 1
	case "k", "up":
		return -1
	case " ", "space", "pgdown", "ctrl+d":
		return page
	case "b", "pgup", "ctrl+u":
		return -page
	case "G", "end":
		return 1 << 30
	case "home":
		return -1 << 30
	}
	return 0
}

// boardKey is a key on the board itself.
func (m *Model) boardKey(name string) tea.Cmd {
	if by := m.scrolls(name); by != 0 {
		m.view.Move(by)
		return nil
	}
	switch name {
	case "q":
		return tea.Quit
	case "esc":
		m.back()
	case "tab", "shift+tab":
		m.view.Pane = 1 - m.view.Pane
	case "1":
		m.view.Pane = board.PaneInbox
	case "2":
		m.view.Pane = board.PaneAgents
	case "n":
		return m.next()
	case "enter":
		return m.open()
	case "g":
		m.view.Flat = !m.view.Flat
	case "x":
		m.mark()
	case "/":
		m.filter()
	case "y":
		return m.accept()
	case "d":
		return m.dismiss()
	default:
		return m.agentKey(name)
	}
	return nil
}

// back undoes the last narrowing: what is selected, then the filter.
func (m *Model) back() {
	switch {
	case len(m.view.Marked) > 0:
		clear(m.view.Marked)
	case m.view.Filter != "":
		m.view.Filter = ""
	default:
		m.note("q quits; agents go on working")
	}
}

// agentKey is a key about an agent.
func (m *Model) agentKey(name string) tea.Cmd {
	switch name {
	case "a":
		return m.answer()
	case "m":
		return m.message()
	case "r":
		return m.diff()
	case "s":
		return m.stop()
	case "f":
		return m.holdLog()
	case "?":
		m.view.Sheet = board.Keys()
	}
	return nil
}

// openedKey is a key while one agent fills the screen.
func (m *Model) openedKey(name string) tea.Cmd {
	if by := m.scrolls(name); by != 0 {
		return m.scrollLog(name, by)
	}
	switch name {
	case "q", "esc":
		m.view.Opened = false
		return nil
	}
	return m.agentKey(name)
}

// sheetKey is a key while a text is read.
func (m *Model) sheetKey(name string) tea.Cmd {
	if by := m.scrolls(name); by != 0 {
		m.view.Sheet.Scroll(by)
		return nil
	}
	switch name {
	case "q", "esc", "?":
		m.view.Sheet, m.reading = nil, nil
	case "y":
		if len(m.view.Sheet.Keys) > 0 {
			return m.accept()
		}
	case "d":
		if len(m.view.Sheet.Keys) > 0 {
			return m.dismiss()
		}
	}
	return nil
}

// confirmKey is a key while something is asked for y or n.
func (m *Model) confirmKey(name string) tea.Cmd {
	act := m.confirm
	switch name {
	case "y":
		m.view.Confirm, m.confirm = "", nil
		return act()
	case "n", "esc", "q":
		m.view.Confirm, m.confirm = "", nil
	}
	return nil
}

// ask asks for y or n before it acts.
func (m *Model) ask(question string, act func() tea.Cmd) {
	m.view.Confirm, m.confirm = question, act
}

// askingKey is a key while questions are answered.
func (m *Model) askingKey(name string) tea.Cmd {
	k := m.view.Asking
	if name == "esc" || name == "q" {
		m.view.Asking = nil
		return nil
	}
	if k.Sent {
		return nil
	}
	switch name {
	case "j", "down":
		k.Move(1)
	case "k", "up":
		k.Move(-1)
	case " ", "space", "x":
		k.Toggle()
	case "enter":
		return m.answered(k.Take())
	case "o":
		m.ownWords(k)
	case "r":
		m.view.Sheet = k.Whole()
	case "n":
		m.view.Asking = nil
		return m.next()
	case "?":
		m.view.Sheet = board.Keys()
	default:
		if number, err := strconv.Atoi(name); err == nil {
			k.Pick(number)
		}
	}
	return nil
}
