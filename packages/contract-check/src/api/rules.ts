import { named, type RuleText } from '../change.ts';

/** The rules for API reports, which list the exported TypeScript declarations of an entry point. */
export const apiRules = named('api', {
  declarationAdded: {
    what: 'a declaration is added',
    verdict: 'minor',
    why: 'Existing code does not name it.',
  },
  declarationRemoved: {
    what: 'a declaration is removed',
    verdict: 'major',
    why: 'Code that imports it no longer compiles.',
  },
  declarationChanged: {
    what: 'a declaration changes its kind, or its signature in another way than the rules for parameters',
    verdict: 'major',
    why: 'Code that uses it may no longer compile, or may get another value.',
  },
  parameterAdded: {
    what: 'a function, method or function type gains a parameter at its end that is optional or a rest parameter, not in an overload before others',
    verdict: 'minor',
    why: 'Existing calls omit it, and existing functions ignore it.',
  },
  parameterLoosened: {
    what: 'a parameter of a function or of a method that callers only call becomes optional, not in an overload before others',
    verdict: 'minor',
    why: 'Existing calls pass it.',
  },
  parameterRenamed: {
    what: 'a parameter is renamed',
    verdict: 'patch',
    why: 'Calls pass arguments by position, so only documentation shows the name.',
  },
  memberAdded: {
    what: 'a member is added to an object type: an optional one, or a required one that callers do not pass',
    verdict: 'minor',
    why: 'Existing code does not read the member and does not have to pass it.',
  },
  requiredMemberAdded: {
    what: 'a required member is added to an object type that callers pass, or an abstract member to a class',
    verdict: 'major',
    why: 'Code that passes such an object, or extends the class, no longer compiles.',
  },
  classNominal: {
    what: 'a class gains its first private or protected member',
    verdict: 'major',
    why: 'Objects that callers create without the class are no longer assignable to it.',
  },
  memberRemoved: {
    what: 'a member is removed from an object type',
    verdict: 'major',
    why: 'Code that reads or passes the member no longer compiles.',
  },
  memberChanged: {
    what: 'a member changes its signature, becomes optional where callers may read it, or becomes required where they pass it',
    verdict: 'major',
    why: 'Code that reads or passes the member may no longer compile.',
  },
  memberLoosened: {
    what: 'a required member becomes optional in an object type that callers only pass',
    verdict: 'minor',
    why: 'Code that passes the member still compiles.',
  },
  memberGuaranteed: {
    what: 'an optional member becomes required in an object type that callers only receive',
    verdict: 'minor',
    why: 'Code that handles its absence still works, but the stronger guarantee cannot be withdrawn later.',
  },
  unionMemberAdded: {
    what: 'a type is added to a union',
    verdict: 'major',
    why: 'Code that handles every type of the union no longer compiles.',
  },
  openUnionMemberAdded: {
    what: "a type is added to an open union: one with `'%future added value'`, or one listed in `openUnions`",
    verdict: 'minor',
    why: 'Code that uses an open union handles types that it does not know.',
  },
  unionMemberRemoved: {
    what: 'a type is removed from a union',
    verdict: 'major',
    why: 'Code that passes or expects the type no longer compiles.',
  },
} as const satisfies Record<string, RuleText>);
