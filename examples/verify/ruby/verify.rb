# frozen_string_literal: true

# Verifies a webhook in plain Ruby, 3.0 or later.
require "openssl"

module Webhook
  ENTRY = %r{v[0-9]+[a-z]*,[-!-+./-~]+}

  # Returns whether Deedwire signed the request with one of the secrets within the last `tolerance` seconds.
  #
  # headers: lower-case names and their values, or `request.headers` of Rails
  # body: the bytes as received: `request.body.read` of Rack, `request.raw_post` of Rails
  # secrets: one secret, or both during a rotation. Raises ArgumentError if one is malformed.
  def self.authentic?(headers, body, secrets, now: Time.now.to_i, tolerance: 300)
    keys = secrets.map { |secret| decode_secret(secret) }
    service = %w[timestamp signature signature-next].map { |name| headers["x-service-webhook-#{name}"].to_s.b }
    standard = %w[timestamp signature id].map { |name| headers["webhook-#{name}"].to_s.b }
    timestamp = (service.join.empty? ? standard : service).first
    return false if !standard.join.empty? && standard.first != timestamp
    # Exactly ten digits: otherwise digits could move between the timestamp and the body.
    return false if !timestamp.match?(/\A[0-9]{10}\z/) || (now - timestamp.to_i).abs > tolerance

    content = "#{timestamp}.".b + body.b
    # Deedwire signs with both schemes. Each scheme that the request has must verify.
    (service.join.empty? || service?(service, content, secrets)) &&
      (standard.join.empty? || standard?(standard, content, keys))
  end

  def self.service?((_, signature, next_signature), content, secrets)
    signatures = "#{signature} #{next_signature}"
    signatures.match?(/\A[0-9a-f]{64} ([0-9a-f]{64})?\z/) &&
      matches?(signatures, secrets.map { |secret| OpenSSL::HMAC.hexdigest("SHA256", secret, content) })
  end

  def self.standard?((_, signatures, id), content, keys)
    # Without a dot: otherwise text could move between the id and the body.
    return false unless id.match?(%r{\A[-!-+/-~]{1,256}\z}) && signatures.match?(/\A#{ENTRY}( #{ENTRY})*\z/)

    matches?(signatures, keys.map { |key| "v1,#{[OpenSSL::HMAC.digest("SHA256", key, "#{id}.".b + content)].pack("m0")}" })
  end

  # Compares in constant time.
  def self.matches?(signatures, expected)
    signatures.split(" ").product(expected).any? do |signature, mac|
      signature.bytesize == mac.bytesize && OpenSSL.fixed_length_secure_compare(signature, mac)
    end
  end

  def self.decode_secret(secret)
    key = secret.delete_prefix("whsec_").unpack1("m")
    return key if secret == "whsec_#{[key].pack("m0")}" && key.bytesize.between?(24, 64)

    raise ArgumentError, "A webhook secret is whsec_ and the base64 of 24 to 64 bytes, without white space."
  end

  private_class_method :service?, :standard?, :matches?, :decode_secret
end
