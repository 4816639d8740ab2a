/** The settings on disk cannot be used. The message says what the operator can do. */
export class SettingsUnusable extends Error {
  override readonly name = 'SettingsUnusable'
}

/** Nothing can be sealed, because a new key would make the values of `settings` unreadable for good. */
export class SecretKeyMissing extends Error {
  override readonly name = 'SecretKeyMissing'
  readonly settings: readonly string[]
  constructor(settings: readonly string[]) {
    super(`secret.key is missing, which ${settings.join(', ')} are encrypted with`)
    this.settings = settings
  }
}
