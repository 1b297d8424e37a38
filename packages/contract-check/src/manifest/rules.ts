import type { Rule } from '../change.ts';

/** Every verdict about a manifest. */
export const manifestRules = {
  errorAdded: {
    what: 'an error code is added',
    verdict: 'minor',
    why: 'Codes are open: a client must accept ones that it does not know.',
  },
  errorRemoved: {
    what: 'an error code is removed',
    verdict: 'major',
    why: 'A client that handles the code waits for ever, and meets another answer in its place.',
  },
  statusAdded: {
    what: 'an error gets a status for one more media type',
    verdict: 'minor',
    why: 'What is answered in the other media types stays.',
  },
  statusChanged: {
    what: 'the status of an error is changed, or removed for a media type',
    verdict: 'major',
    why: 'Clients, proxies and retries decide by the status.',
  },
  requestHeaderRequired: {
    what: 'a required request header is added, or one becomes required',
    verdict: 'major',
    why: 'A request without it is refused.',
  },
  requestHeaderOptional: {
    what: 'an optional request header is added, or one becomes optional',
    verdict: 'minor',
    why: 'A request is answered with it or without it.',
  },
  requestHeaderRemoved: {
    what: 'a request header is removed',
    verdict: 'major',
    why: 'What a client asks for with it is silently ignored.',
  },
  responseHeaderAdded: {
    what: 'a response header is added, or sent in more cases, or with a value that is promised now',
    verdict: 'minor',
    why: 'Clients ignore headers that they do not know.',
  },
  responseHeaderRemoved: {
    what: 'a response header is removed, or sent in other or fewer cases',
    verdict: 'major',
    why: 'A client that reads it finds nothing.',
  },
  responseHeaderValueChanged: {
    what: 'the value of a response header is changed, or not promised any more',
    verdict: 'major',
    why: 'A client that reads it finds another value.',
  },
  limitTightened: {
    what: 'a limit is tightened: lowered, or raised when it is a minimum',
    verdict: 'major',
    why: 'A request that was within the limit is refused.',
  },
  limitLoosened: {
    what: 'a limit is loosened',
    verdict: 'minor',
    why: 'Every request that was within the limit still is.',
  },
  limitAdded: {
    what: 'a limit is added',
    verdict: 'major',
    why: 'What was not limited by the contract is. A limit of something new says so: `introducedWith`.',
  },
  limitAddedWithNew: {
    what: 'a limit is added together with what it limits',
    verdict: 'minor',
    why: 'Nobody could exceed it before: what it limits is new.',
  },
  limitRemoved: {
    what: 'a limit is not listed any more',
    verdict: 'major',
    why: 'A client cannot know any more how far it may go, or how much it must be ready for.',
  },
  outputLimitRaised: {
    what: 'a limit of what clients are sent is widened',
    verdict: 'major',
    why: 'A client that made room for the old limit is sent more.',
  },
  outputLimitLowered: {
    what: 'a limit of what clients are sent is narrowed',
    verdict: 'minor',
    why: 'A client that made room for the old limit still has enough.',
  },
  enforcementChanged: {
    what: 'a published limit is enforced from now on, or no longer (`enforced`)',
    verdict: 'minor',
    why: 'The limit itself stays: whoever kept to it notices nothing.',
  },
  boundedSideChanged: {
    what: 'a limit is about the other side (`bounds`)',
    verdict: 'major',
    why: 'What the limit promises is something else.',
  },
  defaultChanged: {
    what: 'a default (a name with `default` in it) becomes another number',
    verdict: 'major',
    why: 'Requests that leave it out are silently answered differently.',
  },
  weightRaised: {
    what: 'a cost weight is raised, or added to what existed',
    verdict: 'major',
    why: 'An operation that was affordable can be too dear.',
  },
  weightLowered: {
    what: 'a cost weight is lowered',
    verdict: 'minor',
    why: 'Every operation that was affordable still is.',
  },
  weightAddedWithNew: {
    what: 'a cost weight is added together with what it is of',
    verdict: 'minor',
    why: 'Nobody could ask for it before.',
  },
  weightRemoved: {
    what: 'a cost weight is not listed any more',
    verdict: 'major',
    why: 'A client cannot know any more what it pays.',
  },
  descriptionChanged: {
    what: 'a description is added, changed or removed',
    verdict: 'patch',
    why: 'Documentation: nothing else is promised.',
  },
} as const satisfies Record<string, Rule>;
