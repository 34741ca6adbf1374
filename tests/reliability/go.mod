module muster.test/reliability

go 1.24
