// Package linear decides whether a recorded history of one key of an API server is linearizable: whether each operation could have
// taken effect at one moment between its call and its return, so that all answers are right.
//
// In general that is a search. Here versions make it a sweep: every write that succeeded names the version it made, versions order the
// writes, and a delete names the incarnation that it ended. What is left is to place the reads, and to compare with real time.
package linear

import (
	"fmt"
	"sort"
)

type Kind int

const (
	Read   Kind = iota // a get
	Create             // refused if the key exists
	Update             // refused unless the key has the version Expected
	Delete             // refused if the key is absent
)

func (k Kind) String() string { return [...]string{"read", "create", "update", "delete"}[k] }

// Op is one operation that was answered. Times count from any common start.
type Op struct {
	Kind         Kind
	Call, Return int64
	OK           bool   // took effect; for a read: found
	Version      uint64 // what a read found, what a create or update made
	UID          string // of the object found, made or deleted
	Expected     uint64 // the version an update was conditional on
	Value        string // what was found or written
	Gone         bool   // an update that was refused because the key is absent, not because of its version
}

func (o Op) String() string {
	return fmt.Sprintf("%v [%d,%d] ok=%v version=%d uid=%s expected=%d value=%q", o.Kind, o.Call, o.Return, o.OK, o.Version, o.UID, o.Expected, o.Value)
}

// state is what the key holds between two writes.
type state struct {
	made     *Op // the write that began it; nil for the absence before the first
	present  bool
	reads    []*Op
	earliest int64 // bounds of the moment at which it began
	latest   int64
}

const forever = int64(1) << 62

// Check returns the first fault found, or nil. The key is absent at first. Exact for writes that succeeded and for reads that
// found something; for refusals and absences it demands that some fitting state overlapped them, each by itself.
func Check(history []Op) error {
	states, err := order(history)
	if err != nil {
		return err
	}
	if err := placeReads(history, states); err != nil {
		return err
	}
	if err := bound(states); err != nil {
		return err
	}
	for i := range history {
		if err := placeRefusal(&history[i], states); err != nil {
			return err
		}
	}
	return nil
}

// order lines up the writes that succeeded and checks that each fits the state it found.
func order(history []Op) ([]*state, error) {
	var writes []*Op
	deletes := map[string]*Op{}
	for i := range history {
		op := &history[i]
		switch {
		case !op.OK || op.Kind == Read:
		case op.Kind != Delete:
			writes = append(writes, op)
		case deletes[op.UID] != nil:
			return nil, fmt.Errorf("deleted twice: %v and %v", *deletes[op.UID], *op)
		default:
			deletes[op.UID] = op
		}
	}
	sort.Slice(writes, func(i, j int) bool { return writes[i].Version < writes[j].Version })
	states := []*state{{}}
	for i, op := range writes {
		before := states[len(states)-1]
		if i > 0 && writes[i-1].Version == op.Version {
			return nil, fmt.Errorf("one version twice: %v and %v", *writes[i-1], *op)
		}
		if op.Kind == Create && before.present {
			return nil, fmt.Errorf("created over %v: %v", *before.made, *op)
		}
		if op.Kind == Update && (!before.present || before.made.Version != op.Expected || before.made.UID != op.UID) {
			return nil, fmt.Errorf("lost update: %v", *op)
		}
		states = append(states, &state{made: op, present: true})
		last := i+1 == len(writes) || writes[i+1].UID != op.UID
		if end := deletes[op.UID]; last && end != nil {
			states = append(states, &state{made: end})
			delete(deletes, op.UID)
		}
	}
	for _, op := range deletes {
		return nil, fmt.Errorf("deleted what nobody made: %v", *op)
	}
	return states, nil
}

// placeReads gives every read that found something to the state that it saw.
func placeReads(history []Op, states []*state) error {
	byVersion := map[uint64]*state{}
	for _, s := range states {
		if s.present {
			byVersion[s.made.Version] = s
		}
	}
	for i := range history {
		op := &history[i]
		if op.Kind != Read || !op.OK {
			continue
		}
		s := byVersion[op.Version]
		if s == nil || s.made.Value != op.Value || s.made.UID != op.UID {
			return fmt.Errorf("read what nobody wrote: %v", *op)
		}
		s.reads = append(s.reads, op)
	}
	return nil
}

// bound finds the earliest and the latest moment at which each state can have begun.
func bound(states []*state) error {
	now := -forever
	states[0].earliest = now
	for i, s := range states {
		if s.made != nil {
			now = max(now, s.made.Call)
			if s.made.Return < now {
				return fmt.Errorf("took effect after it returned, overtaken by what the versions say came before: %v", *s.made)
			}
			states[i].earliest = now
		}
		for _, read := range s.reads {
			if read.Return < s.earliest {
				return fmt.Errorf("read %v before %v", *read, *s.made)
			}
			now = max(now, read.Call)
		}
		if i+1 < len(states) && states[i+1].made.Return < now {
			return fmt.Errorf("stale read: a read of the state before saw it after the return of %v", *states[i+1].made)
		}
	}
	then := forever
	for i := len(states) - 1; i >= 0; i-- {
		s := states[i]
		if s.made == nil {
			s.latest = -forever
			break
		}
		then = min(then, s.made.Return)
		for _, read := range s.reads {
			then = min(then, read.Return)
		}
		s.latest = then
	}
	return nil
}

// fits says whether a refusal or an absence is the right answer in a state.
func fits(op *Op, s *state) bool {
	switch op.Kind {
	case Create:
		return s.present
	case Update:
		return op.Gone != s.present && !(s.present && s.made.Version == op.Expected)
	default:
		return !s.present
	}
}

func placeRefusal(op *Op, states []*state) error {
	if op.OK {
		return nil
	}
	first := sort.Search(len(states), func(i int) bool { return i+1 == len(states) || states[i+1].latest >= op.Call })
	for i := first; i < len(states) && states[i].earliest <= op.Return; i++ {
		if fits(op, states[i]) {
			return nil
		}
	}
	return fmt.Errorf("no state in which this is the right answer: %v", *op)
}
