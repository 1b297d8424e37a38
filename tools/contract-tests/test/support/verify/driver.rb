# frozen_string_literal: true

require_relative "verify"

text = ->(encoded) { encoded.unpack1("m").force_encoding("UTF-8") }

$stdin.each_line(chomp: true) do |line|
  now, body, secrets, headers = line.split("\t", -1)
  named = headers.split(",").to_h { |header| header.split(":", -1) }.transform_values(&text)
  secrets = secrets.empty? ? [""] : secrets.split(",", -1).map(&text)
  puts Webhook.authentic?(named, text.call(body), secrets, now: now.to_i)
rescue ArgumentError
  puts "error"
end
