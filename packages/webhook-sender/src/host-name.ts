const maxHostCharacters = 253;
const maxLabelCharacters = 63;

/**
 * Returns what is wrong with a host name that the URL parser has accepted, or null. The parser allows labels that no name in
 * DNS has. Underscores are allowed: names of existing receivers have them. A dot at the end is not, although DNS allows it:
 * certificates are issued without it, and each receiver has one spelling.
 */
export function hostNameProblem(hostname: string): string | null {
  if (hostname.length > maxHostCharacters) {
    return `The host name of the callback URL has ${hostname.length} characters. The maximum is ${maxHostCharacters}.`;
  }
  if (hostname.endsWith('.')) return 'The host name of the callback URL must not end with a dot.';
  for (const label of hostname.split('.')) {
    const problem = labelProblem(label);
    if (problem !== null) return `The host name ${hostname} of the callback URL ${problem}`;
  }
  return null;
}

function labelProblem(label: string): string | null {
  if (label === '') return 'has an empty label. Remove the extra dot.';
  if (label.length > maxLabelCharacters) {
    return `has a label of ${label.length} characters, ${label}. The maximum is ${maxLabelCharacters}.`;
  }
  if (!/^[\w-]+$/.test(label)) {
    return `has the label ${label}. Labels consist of letters, digits, hyphens and underscores.`;
  }
  if (label.startsWith('-') || label.endsWith('-')) {
    return `has the label ${label}. Labels must not begin or end with a hyphen.`;
  }
  return null;
}
