import { css } from 'lit'
import {
  ArrowDown,
  ArrowLeft,
  ArrowUp,
  Bell,
  Brain,
  CalendarX2,
  ChartLine,
  Check,
  ChevronRight,
  CircleCheck,
  CircleHelp,
  CircleX,
  CloudOff,
  Copy,
  Download,
  Ellipsis,
  Eraser,
  Eye,
  EyeOff,
  FileText,
  Globe,
  History,
  Info,
  Keyboard,
  Link,
  Lock,
  LogOut,
  Menu,
  MessageCircle,
  MessageSquareText,
  Monitor,
  Moon,
  Pause,
  Pencil,
  Phone,
  Play,
  Plug,
  Plus,
  RotateCcw,
  ScrollText,
  Search,
  Settings,
  SlidersHorizontal,
  Smartphone,
  Sparkles,
  Square,
  StickyNote,
  Sun,
  Timer,
  Trash2,
  TriangleAlert,
  User,
  Wrench,
  X,
} from 'lucide'

const icons = {
  'arrow-down': ArrowDown,
  'arrow-up': ArrowUp,
  back: ArrowLeft,
  bell: Bell,
  brain: Brain,
  chart: ChartLine,
  chat: MessageCircle,
  check: Check,
  chevron: ChevronRight,
  close: X,
  copy: Copy,
  done: CircleCheck,
  edit: Pencil,
  erased: Eraser,
  file: FileText,
  hide: EyeOff,
  keyboard: Keyboard,
  link: Link,
  menu: Menu,
  monitor: Monitor,
  moon: Moon,
  more: Ellipsis,
  note: StickyNote,
  offline: CloudOff,
  help: CircleHelp,
  period: CalendarX2,
  phone: Phone,
  plus: Plus,
  retry: RotateCcw,
  search: Search,
  show: Eye,
  'sign-out': LogOut,
  sliders: SlidersHorizontal,
  sms: MessageSquareText,
  spark: Sparkles,
  stop: Square,
  sun: Sun,
  timeline: History,
  timer: Timer,
  tool: Wrench,
  trash: Trash2,
  failed: CircleX,
  globe: Globe,
  info: Info,
  lock: Lock,
  pause: Pause,
  play: Play,
  plug: Plug,
  logs: ScrollText,
  settings: Settings,
  handheld: Smartphone,
  user: User,
  download: Download,
  warning: TriangleAlert,
} as const

export type IconName = keyof typeof icons

const svgNamespace = 'http://www.w3.org/2000/svg'

const styles = css`
  :host {
    display: inline-block;
    flex: none;
    width: var(--icon-size, 1.125em);
    height: var(--icon-size, 1.125em);
  }
  svg {
    display: block;
    width: 100%;
    height: 100%;
    fill: none;
    stroke: currentColor;
    stroke-width: 2;
    stroke-linecap: round;
    stroke-linejoin: round;
  }
`

function draw(name: IconName): SVGElement {
  const picture = document.createElementNS(svgNamespace, 'svg')
  picture.setAttribute('viewBox', '0 0 24 24')
  picture.setAttribute('focusable', 'false')
  for (const [tag, attributes] of icons[name]) {
    const shape = document.createElementNS(svgNamespace, tag)
    for (const [attribute, value] of Object.entries(attributes)) shape.setAttribute(attribute, String(value))
    picture.append(shape)
  }
  return picture
}

function isIconName(name: string | null): name is IconName {
  return name !== null && Object.hasOwn(icons, name)
}

/** Cache of drawn icons. Elements show copies. */
const drawn = new Map<IconName, SVGElement>()

/** A decorative icon, hidden from screen readers. A plain element, because each timeline row has several. */
export class DgIcon extends HTMLElement {
  static readonly observedAttributes = ['name']
  private readonly root: ShadowRoot

  constructor() {
    super()
    this.root = this.attachShadow({ mode: 'open' })
    if (styles.styleSheet) this.root.adoptedStyleSheets = [styles.styleSheet]
  }

  connectedCallback(): void {
    this.ariaHidden = 'true'
  }

  attributeChangedCallback(_attribute: string, before: string | null, name: string | null): void {
    if (name === before) return
    if (!isIconName(name)) {
      this.root.replaceChildren()
      return
    }
    const picture = drawn.get(name) ?? draw(name)
    drawn.set(name, picture)
    this.root.replaceChildren(picture.cloneNode(true))
  }
}

customElements.define('dg-icon', DgIcon)
