module lastcall.test/cluster/pause

go 1.25.0
