/** The same for addresses that differ in case only, in how Unicode spells a character, or in how ASCII spells a domain (`xn--`). */
export function addressKey(address: string): string {
  const lower = address.normalize('NFKC').toLowerCase().normalize('NFKC');
  // The lower case of "Σ" depends on what follows. In a domain, "ς" is another letter.
  const key = lower.replaceAll(/ς(?=.*@)/g, 'σ');
  // What is no part of a host name stays: a URL would end before it, or decode it.
  return key.replace(/(?<![^@/?#:%\\])[^@/?#:%\\]+$/, (domain) =>
    /[^ -~]/.test(domain) ? (URL.parse(`http://${domain}`)?.hostname ?? domain) : domain,
  );
}
