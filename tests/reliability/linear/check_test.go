package linear

import "testing"

func create(call, ret int64, version uint64, uid string) Op {
	return Op{Kind: Create, Call: call, Return: ret, OK: true, Version: version, UID: uid}
}
func update(call, ret int64, expected, version uint64, uid string) Op {
	return Op{Kind: Update, Call: call, Return: ret, OK: true, Expected: expected, Version: version, UID: uid}
}
func remove(call, ret int64, uid string) Op {
	return Op{Kind: Delete, Call: call, Return: ret, OK: true, UID: uid}
}
func read(call, ret int64, version uint64, uid string) Op {
	return Op{Kind: Read, Call: call, Return: ret, OK: true, Version: version, UID: uid}
}
func refused(kind Kind, call, ret int64, expected uint64, gone bool) Op {
	return Op{Kind: kind, Call: call, Return: ret, Expected: expected, Gone: gone}
}

func TestCheck(t *testing.T) {
	life := []Op{create(0, 10, 5, "a"), update(20, 30, 5, 6, "a"), remove(40, 50, "a"), create(60, 70, 9, "b")}
	cases := []struct {
		name    string
		more    []Op
		history []Op
		right   bool
	}{
		{"nothing else", nil, life, true},
		{"read of the newest", []Op{read(31, 39, 6, "a")}, life, true},
		{"read of the old state while the update is under way", []Op{read(21, 35, 5, "a")}, life, true},
		{"stale read", []Op{read(31, 39, 5, "a")}, life, false},
		{"read of the future", []Op{read(11, 19, 6, "a")}, life, false},
		{"reads that go back in time", []Op{read(21, 23, 6, "a"), read(24, 26, 5, "a")}, life, false},
		{"reads in order during the update", []Op{read(21, 23, 5, "a"), read(24, 26, 6, "a")}, life, true},
		{"read of what nobody wrote", []Op{read(31, 39, 7, "a")}, life, false},
		{"absence before the first create returns", []Op{refused(Read, 5, 9, 0, false)}, life, true},
		{"absence after the create returned", []Op{refused(Read, 11, 19, 0, false)}, life, false},
		{"absence between the incarnations", []Op{refused(Read, 51, 59, 0, false)}, life, true},
		{"create refused while the key exists", []Op{refused(Create, 11, 12, 0, false)}, life, true},
		{"create refused while it does not", []Op{refused(Create, 51, 59, 0, false)}, life, false},
		{"update refused for an old version", []Op{refused(Update, 31, 39, 5, false)}, life, true},
		{"update refused though the version is right", []Op{refused(Update, 31, 39, 6, false)}, life, false},
		{"update refused as gone while it is there", []Op{refused(Update, 31, 39, 5, true)}, life, false},
		{"update refused as gone after the delete", []Op{refused(Update, 51, 59, 6, true)}, life, true},
		{"delete refused while it is there", []Op{refused(Delete, 31, 39, 0, false)}, life, false},
		{"two updates of one version", []Op{update(20, 30, 5, 7, "a")}, life, false},
		{"two deletes of one incarnation", []Op{remove(40, 50, "a")}, life, false},
		{"created twice", []Op{create(20, 30, 8, "c")}, life[:2], false},
		{"versions against real time", nil, []Op{create(20, 30, 5, "a"), update(0, 10, 5, 6, "a")}, false},
	}
	for _, c := range cases {
		err := Check(append(append([]Op{}, c.history...), c.more...))
		if (err == nil) != c.right {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
