/** The steps of setting up, after the password. */
export const setupSteps = ['timezone', 'model', 'phone', 'message'] as const
export type SetupStep = (typeof setupSteps)[number]

const storageKey = 'delegate.setup'

/** Where the owner was in setting up, in this browser; null where nothing is under way. */
export function currentSetupStep(): SetupStep | null {
  try {
    const stored = localStorage.getItem(storageKey)
    return setupSteps.find((step) => step === stored) ?? null
  } catch {
    return null
  }
}

/** Remembers the step that was reached; null once it is over. What each step sets is on the service already. */
export function rememberSetupStep(step: SetupStep | null): void {
  try {
    if (step === null) localStorage.removeItem(storageKey)
    else localStorage.setItem(storageKey, step)
  } catch {
    // Storage is blocked: the steps can be gone through again, nothing that they set is lost.
  }
}
