const lookMs = 2000
const why = document.querySelector('#why')

/** Shows what the standby waits for, and reloads the page once the service answers in its place. */
async function look(): Promise<void> {
  try {
    const { role, detail } = await (await fetch('/ready')).json()
    if (role !== 'standby') {
      location.reload()
      return
    }
    // Unchanged text must not be announced again.
    if (why && why.textContent !== detail) why.textContent = detail
  } catch {
    // Nothing listens between the standby and the service, and a proxy may answer in words.
  }
  setTimeout(look, lookMs)
}

void look()
