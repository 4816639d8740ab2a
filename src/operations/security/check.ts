/** Something that protects the owner, whether it is in order, and what to do if it is not. */
export type SecurityCheck = {
  readonly id: string
  readonly title: string
  readonly status: 'ok' | 'warning' | 'problem'
  readonly detail: string
  /** Null if there is nothing to do. */
  readonly remedy: string | null
}

/** What a check finds. */
export type Finding = Pick<SecurityCheck, 'status' | 'detail' | 'remedy'>

export const ok = (detail: string): Finding => ({ status: 'ok', detail, remedy: null })
export const warning = (detail: string, remedy: string): Finding => ({ status: 'warning', detail, remedy })
export const problem = (detail: string, remedy: string): Finding => ({ status: 'problem', detail, remedy })
