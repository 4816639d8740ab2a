/** The service requires it of a new password. */
export const minPasswordLength = 12
