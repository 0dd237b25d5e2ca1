package edit

import "testing"

func TestReindent(t *testing.T) {
	runSpots(t, []spot{
		{
			name: "search without the file's depth", before: "func f() {\n\tif ok {\n\t\tgo()\n\t}\n}\n",
			search: "if ok {\n  go()\n}", replace: "if ok {\n  stop()\n  halt()\n}",
			after: "func f() {\n\tif ok {\n\t\tstop()\n\t\thalt()\n\t}\n}\n",
		},
		{
			name: "spaces to tabs", before: "func f() {\n\tprint(1)\n}\n", search: "func f() {\n    print(1)\n}", replace: "func f() {\n    print(2)\n}",
			after: "func f() {\n\tprint(2)\n}\n",
		},
		{
			name: "four to two with a new level", before: "function f() {\n  a()\n  b()\n}\n", search: "    a()\n    b()", replace: "    a()\n    if (c) {\n        b()\n    }",
			after: "function f() {\n  a()\n  if (c) {\n    b()\n  }\n}\n",
		},
		{
			name: "two to four with two new levels", before: "def f():\n    a()\n    b()\n    if x:\n        b()\n", search: "  a()\n  b()", replace: "  for x in y:\n    if x:\n      a()\n  b()",
			after: "def f():\n    for x in y:\n        if x:\n            a()\n    b()\n    if x:\n        b()\n",
		},
		{
			name: "tabs to spaces with a new level", before: "def f():\n    a()\n    b()\n", search: "\ta()\n\tb()", replace: "\tif c:\n\t\ta()\n\tb()",
			after: "def f():\n    if c:\n        a()\n    b()\n",
		},
		{
			name: "a level taken off", before: "func f() {\n\tif c {\n\t\ta()\n\t\tb()\n\t}\n}\n", search: "    if c {\n        a()\n        b()\n    }", replace: "    a()\n    b()",
			after: "func f() {\n\ta()\n\tb()\n}\n",
		},
		{
			name: "a level taken off that the search does not show", before: "if x:\n    if y:\n        a()\n", search: "\t\ta()", replace: "\tb()",
			after: "if x:\n    if y:\n    b()\n",
		},
		{
			name: "blank lines stay bare", before: "class K:\n    def m(self):\n        a()\n", search: "def m(self):\n    a()", replace: "def m(self):\n    a()\n\n    b()\n    \n    c()",
			after: "class K:\n    def m(self):\n        a()\n\n        b()\n\n        c()\n",
		},
		{
			name: "recipes stay on tabs", before: "all: x\n\tcc x\n\nclean:\n\trm x\n", search: "clean:\n    rm x", replace: "clean:\n    rm x\n    rm y",
			after: "all: x\n\tcc x\n\nclean:\n\trm x\n\trm y\n",
		},
		{
			name: "replacement in the file's style", before: "\tif a {\n\t\tb()\n\t}\n", search: "    if a {\n        b()\n    }", replace: "\tif a {\n\t\tc()\n\t}",
			after: "\tif a {\n\t\tc()\n\t}\n",
		},
		{
			name: "replacement at the file's depth", before: "class K:\n    def m(self):\n        a()\n", search: "def m(self):\n    a( )", replace: "    def m(self):\n        b()",
			after: "class K:\n    def m(self):\n        b()\n",
		},
		{
			name: "tabs in the replacement, spaces in the search", before: "func f() {\n\tif ok {\n\t\ta()\n\t}\n}\n", search: "if ok {\n    a()\n}", replace: "if ok {\n\tb()\n\tc()\n}",
			after: "func f() {\n\tif ok {\n\t\tb()\n\t\tc()\n\t}\n}\n",
		},
		{
			name: "trailing blanks of the replacement stay", before: "\tm(a)\n", search: "    m(a)", replace: "    m(b)  \n    n()",
			after: "\tm(b)  \n\tn()\n",
		},
		{
			name: "flat search over nested lines", before: "\tif a {\n\t\tb()\n\t}\n", search: "if a {\nb()\n}", replace: "if a {\nb()\nc()\n}",
			after: "\tif a {\n\t\tb()\n\t\tc()\n\t}\n",
		},
		{
			name: "alignment inside a level", before: "x := f(\n\ta,\n)\n", search: "x := f(\n    a,\n)", replace: "x := f(\n    a,\n      b,\n)",
			after: "x := f(\n\ta,\n\t  b,\n)\n",
		},
		{
			name: "same depth, other blanks: left as written", before: "if a {\n    b =  1\n}\n", search: "    b = 1", replace: "    if c {\n      b = 1\n    }",
			after: "if a {\n    if c {\n      b = 1\n    }\n}\n",
		},
		{
			name: "file with no other indentation", before: "    a\n    b\n", search: "\ta", replace: "\ta\n\t\tc", after: "    a\n        c\n    b\n",
		},
		{
			name: "unindented file, new level", before: "if a:\n    b\nx  = 1\n", search: "x = 1", replace: "if c:\n\tx = 1", after: "if a:\n    b\nif c:\n\tx = 1\n",
		},
		{
			name: "wrapped, all in spaces of another depth", before: "if x:\n    if z:\n        a()\n        b()\n", search: "    a()\n    b()\n", replace: "    if y:\n        a()\n    b()\n",
			after: "if x:\n    if z:\n        if y:\n            a()\n        b()\n",
		},
		{
			name: "a comment aligned inside of a level is no model", before: "class K {\n\t/**\n\t * a\n\t */\n\tint f() {\n\t\treturn 1;\n\t}\n}\n",
			search: "    /**\n     * a\n     */", replace: "    /**\n     * b\n     */\n    int g() {\n        return 2;\n    }\n\n    /**\n     * a\n     */",
			after: "class K {\n\t/**\n\t * b\n\t */\n\tint g() {\n\t\treturn 2;\n\t}\n\n\t/**\n\t * a\n\t */\n\tint f() {\n\t\treturn 1;\n\t}\n}\n",
		},
	})
}
