<% session.invalidate(); response.sendRedirect("index.jsp"); %>
