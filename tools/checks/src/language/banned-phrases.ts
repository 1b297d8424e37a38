import { readLayouts } from '@deedwire/layout';

interface BannedPhrase {
  readonly phrase: string;
  readonly pattern: RegExp;
  /** What to write. */
  readonly instead: string;
}

function banned(phrase: string, pattern: RegExp, instead: string): BannedPhrase {
  return { phrase, pattern, instead };
}

const interfaceNames = (await readLayouts()).flatMap((layout) => layout.interfaceNames);
/** An account of an interface is none. */
const ofOrganization = new RegExp(String.raw`\b(?:your|${interfaceNames.join('|')}) organizations?\b`, 'gi');

/**
 * Other words for what `docs/terms.md` names, and phrases that a native speaker would not write. A word that is also used in another
 * sense is banned only beside the words that give it this one.
 */
export const bannedPhrases: readonly BannedPhrase[] = [
  // Terms
  banned('last release', /\blast (?:releases?|versions?)\b/gi, 'latest, or previous'),
  banned('your organization', ofOrganization, 'the operator, the account'),
  banned('operator of Deedwire', /\boperators? of (?:this service|the service|Deedwire)\b/gi, 'the operator'),
  banned('what waits', /\bwhat waits?\b/gi, 'pending deliveries'),
  // Phrases
  banned(', also', /, also\b/gi, 'even, or including'),
  banned('a further one', /\bfurther ones?\b/gi, 'another one, or the next one'),
  banned('any more', /\bany ?more[.,;:]/gi, 'no longer'),
  banned('away', /\b(?:is|are|was|were|be|been|goes|gone) away\b/gi, 'unavailable, or at home in another cell'),
  banned('before your eyes', /\bbefore your eyes\b/gi, 'in your terminal'),
  banned(
    'behind (after)',
    /\bbehind (?:new ones|the (?:scheme|help|commit|last|delivery)|`?commit`?|those of|live ones|other deliveries)/gi,
    'after',
  ),
  banned('come to its end', /\bcomes? to (?:its|their) end\b/gi, 'end, or is retired'),
  banned('give back', /\b(?:gives?|given|gave|giving) back\b/gi, 'return, or release'),
  banned('held equal', /\b(?:held|hold|holds) equal\b/gi, 'compare'),
  banned('in other hands', /\bin other hands\b/gi, 'leased by another worker'),
  banned('knock', /\bknock/gi, 'scan'),
  banned('look by itself', /\blooks? by (?:itself|themselves)\b/gi, 'poll'),
  banned('mend', /\bmend(?:s|ed|ing)?\b/gi, 'repair, or fix'),
  banned('nobody', /\bnobody\b(?!@)/gi, 'no client, no process'),
  banned(
    'of its own',
    /\bof (?:its|their) own\b(?=\s*(?:[^\s\w]|$|(?:and|as|at|beside|besides|by|for|from|has|have|if|in|is|are|on|or|per|so|that|to|until|which|with|within)\b))/gi,
    'its own, or a separate one',
  ),
  banned('said', /\bsaid\b/gi, 'reported, or responded'),
  banned('told', /\btold\b/gi, 'reported, or distinguished'),
  banned('under way', /\bunder way\b/gi, 'in progress'),
  banned('whoever', /\bwhoever\b/gi, 'who acts'),
];
