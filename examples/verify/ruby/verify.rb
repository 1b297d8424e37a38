# frozen_string_literal: true

# Verifies a webhook in plain Ruby, 3.0 or later.
require "openssl"

module Webhook
  # Returns whether Deedwire signed the request with one of the secrets, within 300 seconds of now.
  #
  # headers: lower-case names and their values, or `request.headers` of Rails
  # body: the bytes as received: `request.body.read` of Rack, `request.raw_post` of Rails
  # secrets: one secret, or both during a rotation. Raises ArgumentError if one is malformed.
  def self.authentic?(headers, body, secrets, now: Time.now.to_i)
    id, timestamp, signatures = %w[id timestamp signature].map { |name| headers["webhook-#{name}"].to_s.b }
    expected = secrets.map do |secret|
      key = secret.delete_prefix("whsec_").unpack1("m")
      valid = key.bytesize.between?(24, 64) && secret == "whsec_#{[key].pack("m0")}"
      raise ArgumentError, "A webhook secret is whsec_ and base64 of 24 to 64 bytes." unless valid

      "v1,#{[OpenSSL::HMAC.digest("SHA256", key, "#{id}.#{timestamp}.#{body.b}")].pack("m0")}"
    end
    authentic = signatures.split(" ").product(expected).any? { |pair| OpenSSL.secure_compare(*pair) }
    # Otherwise text could move between the id, the timestamp and the body.
    well_formed = !id.include?(".") && timestamp.match?(/\A[0-9]{10}\z/)
    authentic && well_formed && (now - timestamp.to_i).abs <= 300
  end
end
