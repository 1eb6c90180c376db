# Responds to every path; to /slow?ms=N after N milliseconds.
require "rack"

run(lambda do |env|
  request = Rack::Request.new(env)
  sleep(request.params["ms"].to_i / 1000.0) if request.path == "/slow"
  [200, { "Content-Type" => "text/plain", "Content-Length" => "6" }, ["hello\n"]]
end)
