using System;
using System.Collections.Generic;
using System.Linq;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

/// <summary>Verifies a webhook in plain C#, on .NET Core 2.1 or later.</summary>
public static class WebhookVerifier
{
    const string Entry = "v[0-9]+[a-z]*,[-!-+./-~]+";

    /// <summary>Returns whether Deedwire signed the request with one of the secrets within the last 5 minutes.</summary>
    /// <param name="header">Returns the value of a request header or null: <c>name => request.Headers[name]</c>.</param>
    /// <param name="body">The bytes as received, before any parsing.</param>
    /// <param name="secrets">One secret, or both during a rotation.</param>
    /// <param name="now">In Unix seconds: <c>DateTimeOffset.UtcNow.ToUnixTimeSeconds()</c>.</param>
    /// <param name="tolerance">In seconds.</param>
    /// <exception cref="FormatException">A secret is malformed.</exception>
    public static bool IsAuthentic(
        Func<string, string> header, byte[] body, IReadOnlyList<string> secrets, long now, long tolerance = 300)
    {
        var keys = secrets.Select(DecodeSecret).ToList();
        var service = new[] { "timestamp", "signature", "signature-next" }
            .Select(name => header("x-service-webhook-" + name) ?? "").ToArray();
        var standard = new[] { "timestamp", "signature", "id" }.Select(name => header("webhook-" + name) ?? "").ToArray();
        bool hasService = service.Any(value => value != ""), hasStandard = standard.Any(value => value != "");
        var timestamp = hasService ? service[0] : standard[0];
        if (hasStandard && standard[0] != timestamp) return false;
        // Exactly ten digits: otherwise digits could move between the timestamp and the body.
        if (!Matches(timestamp, "[0-9]{10}") || Math.Abs(now - long.Parse(timestamp)) > tolerance) return false;
        // Deedwire signs with both schemes. Each scheme that the request has must verify.
        if (hasService)
        {
            var signatures = service[1] + " " + service[2];
            var expected = secrets.Select(secret => Hex(Mac(Encoding.UTF8.GetBytes(secret), timestamp + ".", body)));
            if (!Matches(signatures, "[0-9a-f]{64} ([0-9a-f]{64})?") || !HasOneOf(signatures, expected)) return false;
        }
        if (hasStandard)
        {
            string signatures = standard[1], id = standard[2];
            // Without a dot: otherwise text could move between the id and the body.
            if (!Matches(id, "[-!-+/-~]{1,256}") || !Matches(signatures, Entry + "( " + Entry + ")*")) return false;
            var prefix = id + "." + timestamp + ".";
            return HasOneOf(signatures, keys.Select(key => "v1," + Convert.ToBase64String(Mac(key, prefix, body))));
        }
        return true;
    }

    static bool Matches(string text, string pattern) => Regex.IsMatch(text, "^(?:" + pattern + @")\z");

    static string Hex(byte[] bytes) => BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();

    static byte[] Mac(byte[] key, string prefix, byte[] body)
    {
        using (var mac = new HMACSHA256(key)) return mac.ComputeHash(Encoding.UTF8.GetBytes(prefix).Concat(body).ToArray());
    }

    /// <summary>Compares in constant time.</summary>
    static bool HasOneOf(string signatures, IEnumerable<string> expected)
    {
        var received = signatures.Split(' ').Select(one => Encoding.UTF8.GetBytes(one)).ToList();
        return expected.Any(mac =>
            received.Any(signature => CryptographicOperations.FixedTimeEquals(signature, Encoding.UTF8.GetBytes(mac))));
    }

    static byte[] DecodeSecret(string secret)
    {
        const string prefix = "whsec_";
        var key = secret.StartsWith(prefix, StringComparison.Ordinal)
            ? Convert.FromBase64String(secret.Substring(prefix.Length))
            : new byte[0];
        if (prefix + Convert.ToBase64String(key) == secret && key.Length >= 24 && key.Length <= 64) return key;
        throw new FormatException("A webhook secret is whsec_ and the base64 of 24 to 64 bytes, without white space.");
    }
}
