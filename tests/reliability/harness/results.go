package harness

import (
	"bufio"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
)

// Report prints a result of a benchmark: a line with its name, a tab and the number.
func Report(name string, value float64) { fmt.Printf("%s\t%.6g\n", name, value) }

// ReadResults reads what Report printed into a file; other lines are not looked at. It ends the program if there is no such file.
func ReadResults(path string) map[string]float64 {
	file, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	results := map[string]float64{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		name, number, _ := strings.Cut(lines.Text(), "\t")
		if value, err := strconv.ParseFloat(number, 64); err == nil {
			results[name] = value
		}
	}
	return results
}
