const lookMs = 2000
const why = document.querySelector('#why')
const progress = document.querySelector<HTMLProgressElement>('#progress')

/** Shows what Delegate waits for, and reloads the page once the service answers in its place. */
async function look(): Promise<void> {
  try {
    const { role, status, detail, done, total } = await (await fetch('/ready')).json()
    if (role !== 'standby' && status !== 'upgrading') {
      location.reload()
      return
    }
    // Unchanged text must not be announced again.
    if (why && why.textContent !== detail) why.textContent = detail
    if (progress) {
      progress.hidden = total === undefined
      progress.max = total ?? 1
      progress.value = done ?? 0
    }
  } catch {
    // Nothing listens between this server and the service, and a proxy may answer in words.
  }
  setTimeout(look, lookMs)
}

void look()
