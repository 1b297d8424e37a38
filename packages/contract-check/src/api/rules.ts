import { major, minor, named, patch } from '../change.ts';

/** The rules for API reports, which list the exported TypeScript declarations of an entry point. */
export const apiRules = named('api', {
  declarationAdded: minor('a declaration is added', 'Existing code does not name it.'),
  declarationRemoved: major('a declaration is removed', 'Code that imports it no longer compiles.'),
  declarationChanged: major(
    'a declaration changes its kind, or its signature in another way than the rules for parameters',
    'Code that uses it may no longer compile, or may get another value.',
  ),
  parameterAdded: minor(
    'a function, method or function type gains a parameter at its end that is optional or a rest parameter, not in an overload before others',
    'Existing calls omit it, and existing functions ignore it.',
  ),
  parameterLoosened: minor(
    'a parameter of a function or of a method that callers only call becomes optional, or a member of an object type in it, not in an overload before others',
    'Existing calls pass it.',
  ),
  parameterRenamed: patch(
    'a parameter is renamed',
    'Calls pass arguments by position, so only documentation shows the name.',
  ),
  memberAdded: minor(
    'a member is added to an object type: an optional one, or a required one that callers do not pass',
    'Existing code does not read the member and does not have to pass it.',
  ),
  requiredMemberAdded: major(
    'a required member is added to an object type that callers pass, or an abstract member to a class',
    'Code that passes such an object, or extends the class, no longer compiles.',
  ),
  classNominal: major(
    'a class gains its first private or protected member',
    'Objects that callers create without the class are no longer assignable to it.',
  ),
  memberRemoved: major(
    'a member is removed from an object type',
    'Code that reads or passes the member no longer compiles.',
  ),
  memberChanged: major(
    'a member changes its signature, becomes optional where callers may read it, or becomes required where they pass it',
    'Code that reads or passes the member may no longer compile.',
  ),
  memberLoosened: minor(
    'a required member becomes optional in an object type that callers only pass',
    'Code that passes the member still compiles.',
  ),
  memberGuaranteed: minor(
    'an optional member becomes required in an object type that callers only receive',
    'Code that handles its absence still works, but the stronger guarantee cannot be withdrawn later.',
  ),
  unionMemberAdded: major(
    'a type is added to a union',
    'Code that handles every type of the union no longer compiles.',
  ),
  openUnionMemberAdded: minor(
    "a type is added to an open union: one with `'%future added value'`, or one listed in `openUnions`",
    'Code that uses an open union handles types that it does not know.',
  ),
  unionMemberRemoved: major(
    'a type is removed from a union',
    'Code that passes or expects the type no longer compiles.',
  ),
});
