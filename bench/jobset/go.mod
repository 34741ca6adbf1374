module muster.test/bench/jobset

go 1.24

require muster.test/reliability v0.0.0

replace muster.test/reliability => ../../tests/reliability
