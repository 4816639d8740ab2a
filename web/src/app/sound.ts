const choiceKey = 'delegate.sound'
const volume = 0.15
const riseSeconds = 0.16
const endSeconds = 0.5

/** Whether reminders ring in this browser. */
export const isSoundOn = (): boolean => localStorage.getItem(choiceKey) !== '0'
export const setSound = (isOn: boolean): void => localStorage.setItem(choiceKey, isOn ? '1' : '0')

/** Plays a short tone that rises. Browsers stay silent until the owner has used the page. */
export function ring(): void {
  if (!isSoundOn() || !navigator.userActivation?.hasBeenActive) return
  const context = new AudioContext()
  const at = context.currentTime
  const tone = new OscillatorNode(context, { frequency: 660 })
  const gain = new GainNode(context, { gain: volume })
  tone.frequency.setValueAtTime(880, at + riseSeconds)
  gain.gain.setTargetAtTime(0, at + riseSeconds, (endSeconds - riseSeconds) / 4)
  tone.connect(gain).connect(context.destination)
  tone.start(at)
  tone.stop(at + endSeconds)
  tone.addEventListener('ended', () => void context.close())
}
