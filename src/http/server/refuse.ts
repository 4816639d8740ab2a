import type { Access } from './access.ts'
import type { IntrusionCounter } from './intrusion-counter.ts'
import { Refusal } from './problem.ts'

type RefusedReason = Extract<Access, { verdict: 'refused' }>['reason']

/** The refusal for a request that access control denied. Counts strangers. */
export function refuse(reason: RefusedReason, intrusions: Pick<IntrusionCounter, 'count'>): Refusal {
  switch (reason) {
    case 'not_configured':
      return new Refusal(
        503,
        'not_configured',
        'The service is not installed yet. Open /install in a browser.',
      )
    case 'no_session':
      intrusions.count('no_session')
      return new Refusal(401, 'no_session', 'Sign in first.')
    case 'foreign_origin':
      intrusions.count('foreign_origin')
      return new Refusal(403, 'foreign_origin', 'The request comes from a page of another origin.')
    case 'hidden':
      return new Refusal(404, 'not_found', 'There is nothing at this address.')
  }
}
