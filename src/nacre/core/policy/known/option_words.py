"""The words that names of harmless long options are made of.

Rule 1: a word stands here if no name of an option that has it runs, loads, deletes, sends or
shows anything by it. `exec`, `hook`, `plugin`, `require`, `load`, `editor`, `publish`, `upload`,
`delete`, `reset`, `clear`, `force`, `token`, `key`, `host` and `remote` do, so they are not here.
Rule 2: a whole name that has such a word, and is harmless all the same, is one of NAMES.
"""

# What is built, tested, checked and printed, how much of it and in which form.
WORDS = frozenset(
    """
    a abbrev abbreviated abi abort absolute accept access action activate active add added
    adjust affected after age aggregate aggressive ahead algorithm alias aligned alive all
    allow allure alluredir always amd64 amend analysis analyze analyzer ancestor ancestry
    and android angle annotate annotation annotations anonymous ansi any apcu api app append
    application approx apps arch archive archived arg args arguments argv arm64 array arrow
    artifact artifacts as asc ascii asset assets assignee assume async asyncio at atomic
    attempts attribute attributes audience audit author authoritative authors auto
    autocorrect autofix autogenerate autosquash autostash
    backend backoff backtrace badge bail bar bare base baseline bases bash basic batch be
    before behind bench benches benchmark benchmarks bg big bin binary bins bisect bitrate
    black blame blank blanks block blocks body bom bool both bound boundary bounds bracket
    brackets branch branches break brief brotli browser browsers bs buffer buffered bug
    build builddir builder buildkit builds buildtype builtin builtins bump bundle bundler
    bundles by byte bytecode bytes
    c cache cached caches calls can canonical caps capture case catch category cc cdup
    ceiling cflags change changed changedsince changelog changes channel char character
    characters chars charset chart check checker checkers checkout checkpoint checks
    checksum cherry children chrome chromium chunk ci circular cjs clang class classes
    classmap classname cleanup cli client clients closed clover cls cmake cname cobertura
    code codeclimate codes col collapse collect collectcoverage collectcoveragefrom color
    colored colors colour colours column columns combine combined comma comments commit
    commits committer common compact compare comparison compat compatible compile compiled
    compiler complete completion complexity compliance component components compress
    compression concise concurrency concurrent condition conditions confcut confidence
    config configs configuration configurations conflict conflicts conftest connections
    conservative console const constraint constraints contain contained container containers
    contains content contents context contexts continue controller conventional cop copies
    cops copy core correct cors count counts cov cover coverage coveragereporters cpp cpu
    cpus crds create created creation crop cross csharp css csv cuda cumulative currency
    current custom cut cwd cycle cycles
    daemon dangling dark dart darwin data date dates day days db dd deadline debounce debug
    debugger decimal decl declaration declarations decorate decoration decorations
    decorators dedupe deep deepen def default defaults deferred define defined definition
    definitions deleted delim delimiter demand denied deny dependencies dependency
    dependents depends deployed deprecated deprecation deprecations deps depth deref
    derivative desc descending describe description descriptor destination detach detached
    detail detailed details detect detectopenhandles deterministic dev development device
    devices devtool diag diagnostic diagnostics diagram dialect dialects diff different
    digest digests dir direct direction directives directories directory dirs dirstat dirty
    dirtyreload disable disabled disallow discover disk display dissociate dist distance dn
    doc docs docstring docstrings doctest doctests document documentation documents dom
    domain done dot dotall dotfiles double down downlevel downloads dpi draft drafts driver
    dry dryrun ds dump duplicate duplicated duplicates duration durations dynamic
    e2e each eager early ec edge edges edit edition editorconfig effort elapsed elements
    elixir else embed emit emitted emoji empty emulator enable enabled encoding end ending
    endings enhanced ensure entity entry entrypoint enum env environment environments eol
    epoch epochs equal err error errorlogs errors es escape eslint eslintrc esm even event
    events every exact example examples except exception exceptions exclude excluded
    exclusive exist existing exists exit exitcode exitfirst expand expanded expect expected
    expensive experimental expires explain explicit exponent export exports expr expression
    expressions exprs ext extend extended extension extensions extra extract extras
    factor factorial factory fail failed failfast failing fails failure failures fallback
    family fast fatal fd feature features fetch ff fg field fields file filelimit filename
    filenames filepath files filesystem fill filter filtered filters final find findings
    finished firefox first fit fix fixable fixed fixes fixture fixtures fixup flag flags
    flake8 flaky flat flatten flavor float flow fold folder folders follow font footer for
    foreground fork forked format formats formatted formatter found fps frac fraction
    fragment frame frames framework freeze fresh from frozen fs full fullmatch fully func
    function functions fund future fuzz fuzzy
    gas gate gateway gc gen general generate generated generator git github gitignore gitlab
    glob global globals globs go goal going golden goldens gpu graceful gradle grammar graph
    graphql graphviz green grep group grouped groups grpc gte guess gzip gzipped
    h handles hang hard hardlinks hash hashes hdr head headed header headers heading
    headless heads heap height help helpers here hex hf hidden hide hint hints histogram
    history hit hoist home hosted hot hour hours html htmlcov http human hunk hunks
    hyperlink hyperlinks hypothesis
    i icase icon icons id idempotent identifiers identity idioms idle ids if ignore
    ignorecase ignored ignorefile ignores ilike image images immediate immutable
    implementation implicit imported imports in include included includes incompat
    incomplete inconclusive incremental indent indentation index indexed indicate indicator
    individual inexact inf infer inference info inherit inherited init initial inline
    inlined inner input inputs ins insensitive insert inside insight inspect install
    installed instances instantiations instrument int integration intensity intent inter
    interaction interactive intercept interface interleave intermediate internal interop
    interpolate interval invalid inverse invert inverted invisible invokable ios ipv4 ipv6
    is isatty iso isolate isolated isolation isort issue issues ita item items iter
    iteration iterations iters
    java javascript jitter job jobs join jq js jsdom json jsonl jsx junit junitxml just
    keep killed kind kinds kotlin kustomize
    l label labels lang language languages large last late latest launch layer layers layout
    lazy lcov leading leaf leaks learning left legacy legal length lenient less level levels
    lf lfnf lib libraries library libs license licenses lifespan light like limit limits
    line linear linecount lines link links lint linter linters linting lints linux list
    listed listfiles listing listtests lite literal live livereload local locale locales
    locals localstorage location lock locked lockfile locks log logfile logger logging
    logical loglevel logs long longest loop loops loose lossy low lower lowest lr lsp lte
    lts
    machine macos main mainline maintain major make managed manager mangle mangling manifest
    manual map maps mark markdown markers markup mask match matched matches matching matrix
    max maxfail maximum maxprocesses maxworkers md md5 mean measure mem members memory
    mention merge merged merges message messages meta metadata method metric metrics micro
    middle migration migrations milestone millis milliseconds min mine minified minify
    minimal minimize minimum minor minutes missing mixed mjs mobile mode model models modern
    modified modifier modulate module modules modulo month motif ms msg multi multiline
    multiple must mypy myst
    n name named names namespace namespaces nanoseconds native nav ndjson nearest needed
    needs nested net never new newer newest newline newlines next nf nil nitpicky no nocache
    nocapture node noemit noinput nologo nomigrations non none noop noplot noqa norc
    noreload normal normalize normalized nostats not note notes nothreading notifier nrows
    null nullable nullish num number numbered numbers numeric numprocesses numstat nx nyc
    obfuscate objc object objects odd off offenses offline offset ok old older oldest omit
    on once one oneline only onto opcache openapi openapiv2 operator opt optimistic
    optimization optimize optimized optional options opts or order ordered ordering
    orientation orig origin original orphan orphans os osx other others out outdated outdir
    outer outfile outliers outline outoforder output outputfile outputjson outputs over
    overall overview own owner owners
    package packagename packages page pages paginate pagination paging pair pairs panic
    parallel parallelism parameters paranoid parens parent parents parse parseable parser
    part partial partition partitions pass passed passes passive passthrough past patch path
    paths pathspec patience pattern patterns pause pdb peak peer pep per percent percentage
    percentiles perf performance period perl persistent phase php pick pickaxe picked pin
    pinned pip pixel pkg pkgs place plain plan plane platform platforms playbook plot plus
    point points policy poll pool pop populate porcelain port ports position positions posix
    powerset pr pre precise precision prefer preferred prefix prepare prerelease prereleases
    present preserve preservewatchoutput preset presets pretend pretty preview previous
    primary print printer prio priority private process processes prod product production
    profile profiles profiling progress progressive project projects prompt properties
    property prose proto proto3 protocol provenance provider providers prs pub public
    published pull pulls pure py pyi python pyver
    qps quality queries query queue quick quiet quit quote quotechar quoted quotes
    r radius rampup random randomize randomly range ranges rank ranked rate ratio raw rcfile
    re reached react read readable readme readonly reads ready real rebase rebuild rec
    recent recipe recipes recommended recommends reconfigure recreate recurse recursion
    recursive recursively red redact redefinition redirects reduce ref references reflog
    reflogs refresh refs regenerate regex regexp region regression reject rel related
    relations relationships relative relaxed release releases relevant reload relocatable
    remaining renames render renormalize repeat repeats replay repo report reporter
    reporters reporting reports repository req reqs request requests required requirement
    requirements rerun reruns resize resolution resolve resolved resource resources respect
    responses restart restarts restore result results resume retain retries retry return
    reuse rev reverse reversed review reviewer reviewers revision revisions rewrite right
    risky robust role roles root roots rough round router rows rps rst ruby ruff rule rules
    ruleset rulesets rulesfile run runinband runs runtime rust
    s safe same sample samples sampling sandbox sanitize sanitizer sanitizers sarif sass
    save sbom scale scan scanner scanners schedule scheduled schema schemas scheme scope
    scopes score screen screenshot screenshots sdist sdk sdks search second seconds section
    sections seed select selected selection selector selectors self semantic semi semver
    sensitive sep separate separator sequence sequential serial serve service services
    session set setup severities severity sha sha1 sha256 shake shallow shamefully shape
    shard shards shared sheet shift shm short shorten shortstat show showconfig showlocals
    shuffle sibling siblings side signal signature signoff silent similar similarity simple
    simplified simplify simulate simulation simulator since single site sitemap size sizes
    skip skipped skiprows skips slice slow slowest slowmo small smart snapshot snapshots
    soft solution some sort sorted sorting source sourcemap sourcemaps sources space spaces
    span sparse speaker spec specs speed spellcheck spinner splice split splits sql sqlite
    squash squeeze src ssl ssr stable stack stacktrace stage staged stale standalone
    standard start starts stash stat state states static statistics stats status statuses
    std stderr stdin stdout step steps stepwise stop storage store story strategy stream
    stress strict strictness string strings strip structure structured style styles stylish
    sub subcharts subdir subject submodule submodules subresource subscription subscriptions
    subset success suffix suggest suggestions suite suites sum summarize summary super
    superproject suppress suppressed svg sw swap swc swift switch symbol symbolic symbols
    symlink symlinks symref sync syncdb syntax sys system systems
    t tab table tables tabs tag tagged tags tail tailwind tap target targets task tasks tb
    team tech temp temperature template templates temporary term terminal terse test testdox
    testing testlocationresults testmon testnamepattern testpathpattern testpathpatterns
    tests testsuite testsuites text than theme then this thread threads threshold thresholds
    throughput ticks tidy time timed timeout timeouts timer times timestamp timestamps
    timezone timing timings tip title tmp to toc today toggle tone tool toolchain tools
    toolset top topic toplevel topo tops total totals touch trace traceback tracebacks
    traceresolution tracing track tracked traffic trailer trailers trailing transfer
    transform transitive transitively translate traverse tree trees treeshake treeshaking
    trend trim triple trunc truncated ts tsc tsconfig tsv tty turbo turbopack two txt type
    typecheck typed types typescript typing
    ui umbrella unchanged unchecked undefined under undirected unfixable unfixed unformatted
    unicode unified unimported uninitialized union unique unit units universal unknown
    unlimited unmatch unmatched unmerged unnecessary unordered unpublished unreachable
    unreleased unresolved unsafe unset unshallow unsorted unstable unstaged until untracked
    untyped unused up update updated updates upgrade upgrades upper upstream uri url usage
    use used useful user users using utf utf8 uv
    v v2 valid validate validation value values var variable variables variant vcr vcs
    vendor vendored verbatim verbose verbosity verbs verified verify verifying version
    versions vertical via video view viewer viewport violation violations virtualenv
    visibility visible visual visualize vm voice volume volumes vuln vulnerabilities
    vulnerability vulns
    w wait wall wanted warm warmup warn warning warnings wasm wasm32 watch watchall watcher
    watchman web webkit week werror wheel when where which while whitespace whole why width
    wild wildcard wildcards window windows with within without word words work workdir
    worker workers workflow working workspace workspaces worktree writable write written ws
    x x64 x86 xdist xfail xml xunit
    yaml year years yes yml
    zero zip zone
    inplace instafail
    """.split()  # noqa: SIM905  # a list of words is read as one
)

# Whole names with a word that is dangerous in others.
NAMES = frozenset(
    """
    allow-unrelated-histories apcu-autoloader apply auto-wrap autoloader
    block-network
    chmod clean-first clean-tables clearmocks clearscreen
    delete-conditions
    editable engine-strict engines-strict exec-time executor-concurrency external
    forbid-only forbidonly force-color force-confold force-exclude force-exclusion
    force-exit force-grid-wrap force-reinstall force-rm force-single-line
    force-sort-within-sections forceexit foreground-scripts
    hook-type
    import-mode import-mode-auto insecure-skip inspect-brk-node install-hooks
    keep-open keepdb key-column key-only keys-only known-first-party
    line-wrap login-status
    mirror
    network-concurrency network-timeout noclearscreen
    open optimize-autoloader
    param passwithnotests primary-key prose-wrap proxy-headers prune prune-empty-dirs
    prune-tags
    reinstall relative-urls remote-name remove-all-unused-imports remove-duplicate-keys
    remove-unused remove-unused-imports remove-unused-variables require-hashes reset-author
    reset-mocks resetmocks resetmodules restoremocks run-in-band run-many
    scripts-only server-print server-side shellcheck
    text-wrap
    unhandled-rejections updatesnapshot use-bun use-npm use-pep517 use-pnpm use-yarn
    warn-script-location wrap-comments wrap-descriptions wrap-lines wrap-summaries
    """.split()  # noqa: SIM905  # a list of words is read as one
)
