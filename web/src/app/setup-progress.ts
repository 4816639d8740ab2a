/** Setup steps after the password. */
export const setupSteps = ['timezone', 'model', 'phone', 'message'] as const
export type SetupStep = (typeof setupSteps)[number]

const storageKey = 'delegate.setup'

/** The step at which setup was left in this browser, or null if none is in progress. */
export function currentSetupStep(): SetupStep | null {
  const stored = localStorage.getItem(storageKey)
  return setupSteps.find((step) => step === stored) ?? null
}

/** Remembers the current step; null once setup is complete. */
export function rememberSetupStep(step: SetupStep | null): void {
  if (step === null) localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, step)
}
