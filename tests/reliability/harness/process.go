package harness

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const clockTick = time.Second / 100

// Resident is the memory that a process occupies, in bytes.
func Resident(pid int) (int64, error) { return statusBytes(pid, "VmRSS:") }

// PeakResident is the most memory that it has occupied so far.
func PeakResident(pid int) (int64, error) { return statusBytes(pid, "VmHWM:") }

func statusBytes(pid int, name string) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(text), name)
	var kilobytes int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kilobytes); err != nil {
		return 0, fmt.Errorf("no %s of %d", name, pid)
	}
	return kilobytes << 10, nil
}

// ProcessorTime is what a process has used of it, user and system.
func ProcessorTime(pid int) (time.Duration, error) {
	stat, err := statFields(pid)
	if err != nil {
		return 0, err
	}
	return stat.ticks(11) + stat.ticks(12), nil
}

// StartedAfterBoot is when a process began.
func StartedAfterBoot(pid int) (time.Duration, error) {
	stat, err := statFields(pid)
	if err != nil {
		return 0, err
	}
	return stat.ticks(19), nil
}

// stat is /proc/PID/stat from the state on, which comes after the name of the program.
type stat []string

func statFields(pid int) (stat, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:])), nil
}

func (s stat) ticks(field int) time.Duration {
	n, _ := strconv.ParseInt(s[field], 10, 64)
	return time.Duration(n) * clockTick
}
